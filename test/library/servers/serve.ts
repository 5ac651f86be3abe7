/** Serves one kind of server through the library: `serve.ts <kind> <data> http|stdio`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTasks } from '../../../src/server.ts';
import { buildAdopted, KINDS } from './kinds.ts';
import { addOwnTools } from './own-tools.ts';

const [, , wanted, data = '', transport] = process.argv;
const kind = KINDS.find((known) => known === wanted);
if (!kind) throw new Error(`no kind of server: ${wanted}`);

const tasks = await createTasks({ data });
const build = () => {
  const server = buildAdopted(tasks, kind);
  addOwnTools(tasks, server);
  return server;
};
if (transport === 'stdio') await tasks.stdio(build);
else {
  const web = createServer(tasks.handler(build)).listen(0, '127.0.0.1');
  await tasks.ready();
  const { port } = web.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
  process.once('SIGTERM', () => {
    web.close();
    // What the fixtures' own servers still wait for is of no interest then.
    void tasks.close(500).then(() => process.exit());
  });
}
