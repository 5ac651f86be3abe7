import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { versioned } from '../admin/documents.ts';
import type { LoadedConfig } from '../gateway/config/load.ts';
import { LongcallError } from '../kernel/errors.ts';
import { systemRandom } from '../kernel/random.ts';
import { holdOpen } from './hold-open.ts';
import type { CliIo } from './io.ts';
import { jsonText } from './output/json.ts';
import { listenForStop } from './stop-request.ts';

/** What of the flags of `longcall gateway` a window has to do with. */
export interface WindowFlags {
  readonly project?: string;
  readonly config?: string;
  readonly admin?: string;
  readonly iAcceptAnonymousNetwork?: boolean;
  readonly json?: boolean;
}

/** The folder that a window is about: where it was started, unless it was told. */
export function projectFolder({ project }: Pick<WindowFlags, 'project'>, io: CliIo): string {
  if (project === undefined) return io.cwd;
  const folder = resolve(io.cwd, project);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  throw new LongcallError('LONGCALL_USAGE', `--project names ${folder}, which is no folder`, {
    hint: 'where the host leaves ${workspaceFolder} as it is, leave --project out',
  });
}

export interface WindowRun {
  readonly flags: WindowFlags;
  readonly io: CliIo;
  readonly loaded: LoadedConfig;
  /** The folder that the window is about. */
  readonly cwd: string;
}

/**
 * `longcall gateway --stdio`: a front of the background engine. It ends with its host, and the work does not; it ends
 * with LONGCALL_ENGINE_LOST when the engine does.
 */
export async function runWindow(run: WindowRun): Promise<void> {
  const { io, loaded, cwd } = run;
  const stop = listenForStop(io, () => io.stdin.destroy());
  const release = holdOpen();
  try {
    const { openWindow } = await import('../compose/window.ts');
    const window = await openWindow({
      config: loaded.config,
      folder: cwd,
      engineArgs: engineArgs(run),
      cwd,
      env: io.env,
      input: io.stdin,
      output: io.rawStdout,
      clock: io.clock,
      random: systemRandom,
    });
    announce(run, window);
    const end = await window.ended;
    if (end.kind === 'engine_left') throw engineLost(loaded.config.data, end.unanswered);
  } finally {
    stop.release();
    release();
    io.stdin.destroy(); // a host that keeps it open keeps nothing alive
  }
}

/** The engine finds the same configuration again, wherever it looks from. */
function engineArgs({ flags, loaded }: WindowRun): readonly string[] {
  const { file, config } = loaded;
  return [
    '--data',
    config.data,
    ...(file === undefined ? [] : ['--config', file]),
    ...(flags.admin === undefined ? [] : ['--admin', flags.admin]),
    ...(flags.iAcceptAnonymousNetwork === true ? ['--i-accept-anonymous-network'] : []),
  ];
}

interface WindowFacts {
  readonly enginePid: number;
  readonly engineRole: string;
  readonly differing: readonly string[];
}

/** Stdout belongs to the host, so everything goes to stderr. */
function announce({ flags, io, loaded, cwd }: WindowRun, facts: WindowFacts): void {
  const { config, file } = loaded;
  const { enginePid, engineRole, differing } = facts;
  if (flags.json === true) {
    const document = { url: null, data: config.data, configFile: file ?? null, project: cwd };
    io.stderr(
      jsonText(versioned({ ...document, engine: { pid: enginePid, role: engineRole } }), false),
    );
  } else {
    const kind = engineRole === 'engine' ? 'background engine' : 'gateway over HTTP';
    const where = file ?? 'none: defaults, environment and flags';
    io.stderr(
      `mcp      stdio\nengine   ${kind}, process ${enginePid}\nproject  ${cwd}\ndata     ${config.data}\nconfig   ${where}\n`,
    );
  }
  if (differing.length > 0)
    io.stderr(
      `note: the running engine was started with other values of ${differing.join(', ')}; \`longcall engine restart\` takes up new ones\n`,
    );
  io.stderr('listening stdio\n');
}

function engineLost(data: string, unanswered: number): LongcallError {
  const owed =
    unanswered === 0
      ? 'nothing was under way here'
      : `${unanswered} requests that were under way here were told so`;
  return new LongcallError('LONGCALL_ENGINE_LOST', `the background engine has ended; ${owed}`, {
    hint: `start this server again, and it takes up what was left; ${data}/longcall.log may say why it ended`,
  });
}
