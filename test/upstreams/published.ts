import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { stopProcess } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';

/** Servers of the protocol's own repository, as they are published. */
export type PublishedServer = 'server-everything' | 'server-filesystem' | 'server-memory';

/** The command that serves one over stdio. */
export function publishedCommand(name: PublishedServer, ...args: string[]): readonly string[] {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/${name}/package.json`,
  );
  return [process.execPath, join(dirname(manifest), 'dist/index.js'), ...args];
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Serves server-everything over Streamable HTTP. It does not tell its port, so it is told one. */
export async function launchEverything(port: number): Promise<HttpUpstream> {
  const [command = '', ...args] = publishedCommand('server-everything', 'streamableHttp');
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      if (line.includes('listening on port')) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended before it listened: ${said.join('\n')}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    process: child,
    stop: () => stopProcess(child),
  };
}
