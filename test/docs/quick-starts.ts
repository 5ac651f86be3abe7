import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../wire/check.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STRIP_TYPES = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];

/** The block of a page whose fence says `file=<name>`, as printed, less the indentation of a list around it. */
export function printed(page: string, name: string): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const fence = new RegExp(String.raw`^( *)\`\`\`\w+ file=${name}\n([\s\S]*?)^\1\`\`\`$`, 'm');
  const [, indent = '', code] = fence.exec(text) ?? [];
  if (code === undefined) throw new Error(`${page} prints no file=${name}`);
  return code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

/** A folder of a reader: the printed files, the package as it is built, and what the reader installed. */
export interface ReadersFolder {
  readonly folder: string;
  readonly data: string;
  token(): string;
  /** What the compiler says against the built declarations; nothing where it is content. */
  typeErrors(): string;
  /** Starts a command of the reader; resolves when something answers at the URL. */
  serve(command: readonly string[], env?: Readonly<Record<string, string>>): Promise<Served>;
  remove(): void;
}

export interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything that it has said. */
  said(): string;
  kill(): Promise<void>;
}

export function createReadersFolder(files: Readonly<Record<string, string>>): ReadersFolder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'longcall-quick-start-')));
  install(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const data = join(folder, 'longcall-data');
  const running: Served[] = [];
  return {
    folder,
    data,
    token: () => readFileSync(join(data, 'local-token'), 'utf8').trim(),
    typeErrors: () => typeErrors(folder),
    async serve(command, env = {}) {
      const served = await serve(folder, command, env);
      running.push(served);
      return served;
    },
    remove() {
      for (const { child } of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function install(folder: string): void {
  for (const made of ['bin', 'node_modules']) mkdirSync(join(folder, made));
  symlinkSync(join(ROOT, 'bin/longcall.js'), join(folder, 'bin/longcall'));
  symlinkSync(ROOT, join(folder, 'node_modules/longcall'));
  for (const name of ['@types', '@modelcontextprotocol', 'zod', 'fastmcp'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compilerOptions = { paths: {}, noUnusedLocals: false };
  const tsconfig = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
}

function typeErrors(folder: string): string {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc], { cwd: folder, encoding: 'utf8' });
  return stdout.trim();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function serve(
  folder: string,
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Served> {
  const port = String(await freePort());
  const path = [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']];
  const options = program === 'node' ? [...STRIP_TYPES, ...args] : args;
  const child = spawn(program, options, {
    cwd: folder,
    env: { ...process.env, PATH: path.join(delimiter), HOME: folder, PORT: port, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk.toString()));
  const said = (): string => chunks.join('');
  const urlNow = async (): Promise<string | undefined> => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said()}`);
    const url = /listening (http\S+)/.exec(said())?.[1] ?? `http://127.0.0.1:${port}/mcp`;
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    return answered ? url : undefined;
  };
  const url = await eventually(urlNow, `an answer; it said ${said()}`);
  return {
    url,
    child,
    said,
    async kill() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
