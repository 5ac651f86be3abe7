import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTasks, type ServerSource, type Tasks, type TasksOptions } from '../../src/server.ts';
import type { Endpoint } from '../wire/client.ts';

/** A server of the library in this process, over HTTP. */
export interface WebSite {
  readonly tasks: Tasks;
  readonly url: string;
  /** The user of this machine, by the token of the data directory. */
  readonly local: () => Endpoint;
  as(headers: Readonly<Record<string, string>>): Endpoint;
  stop(): Promise<void>;
}

export interface WebSiteOptions extends TasksOptions {
  /** Builds what is served. */
  readonly serve: (tasks: Tasks) => ServerSource;
  /** The address to listen on; default: loopback. */
  readonly host?: string;
}

export async function openWebSite({
  serve,
  host = '127.0.0.1',
  ...options
}: WebSiteOptions): Promise<WebSite> {
  const data = mkdtempSync(join(tmpdir(), 'longcall-tasks-'));
  const tasks = await createTasks({ data, log: { level: 'silent' }, ...options });
  const web = createServer(tasks.handler(serve(tasks))).listen(0, host);
  await tasks.ready();
  const { port } = web.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mcp`;
  const as: WebSite['as'] = (headers) => ({ url, headers });
  return {
    tasks,
    url,
    as,
    local() {
      const token = readFileSync(join(data, 'local-token'), 'utf8').trim();
      return as({ authorization: `Bearer ${token}` });
    },
    async stop() {
      await tasks.close(500);
      web.close();
      web.closeAllConnections();
      rmSync(data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
