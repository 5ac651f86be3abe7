import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEffectsReader, type EffectsReader } from '../fixtures/upstreams/effects-reader.ts';
import { launchHttp, typescriptCommand, type HttpUpstream } from '../fixtures/upstreams/launch.ts';
import type { Endpoint } from '../wire/client.ts';
import { startPipe } from '../wire/pipe.ts';
import type { Kind } from './servers/kinds.ts';

const SERVE = fileURLToPath(new URL('servers/serve.ts', import.meta.url));

export const TRANSPORTS = ['http', 'stdio'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** A server of one kind in processes of its own, and what its tools really did. */
export interface Site {
  /** A way in for a client. Over stdio each name has a process and a data directory of its own. */
  enter(client?: string): Promise<Endpoint>;
  /** One more process over pipes, over a directory of that name; `leave`: the host goes. */
  enterStdio(data: string): Promise<{ endpoint: Endpoint; leave(): Promise<void> }>;
  readonly effects: EffectsReader;
  readonly folder: string;
  /** Ends the process as the system ends those that take too much: SIGKILL. HTTP only. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export function createSite(kind: Kind, transport: TransportName): Site {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-library-'));
  const effects = createEffectsReader();
  const ends: (() => Promise<void>)[] = [];
  const pipes = new Map<string, ReturnType<Site['enterStdio']>>();
  let web: Promise<HttpUpstream> | undefined;
  const command = (data: string) => typescriptCommand(SERVE, kind, join(folder, data), transport);
  const launch = (): Promise<HttpUpstream> =>
    launchHttp(command('data'), { EFFECTS_LOG: effects.file });
  const enterStdio: Site['enterStdio'] = (data) => {
    const env = { ...process.env, EFFECTS_LOG: effects.file };
    const pipe = startPipe(command(data), env);
    ends.push(() => pipe.stop());
    const endpoint: Endpoint = { url: '', headers: {}, pipeFor: () => pipe };
    return Promise.resolve({ endpoint, leave: () => pipe.stop() });
  };
  return {
    effects,
    folder,
    enterStdio,
    async enter(client = 'one') {
      if (transport === 'http') {
        web ??= launch();
        return { url: (await web).url, headers: {} };
      }
      const entered = pipes.get(client) ?? enterStdio(`data-${client}`);
      pipes.set(client, entered);
      return (await entered).endpoint;
    },
    async kill() {
      const running = await web;
      const gone = new Promise((resolve) => running?.process.once('exit', resolve));
      running?.process.kill('SIGKILL');
      await gone;
      web = undefined;
    },
    async stop() {
      await Promise.all(ends.map((end) => end()));
      await (await web)?.stop();
      effects.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
