// A report that takes its time: each step is remembered, so that a restart costs the step that it hit and no more.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { createTasks } from 'longcall/server';
import { z } from 'zod';

const { DATA: data = './longcall-data', DEEDS = 'deeds.log', PORT = '0' } = process.env;
const note = (deed: string): void => appendFileSync(DEEDS, `${deed}\n`);
const tasks = await createTasks({ data });

function buildServer() {
  const server = new McpServer({ name: 'reports', version: '1.0.0' });
  tasks.tool(
    server,
    'generate_report',
    {
      description: 'Generates the report of a month; takes a while, changes nothing',
      inputSchema: z.object({ month: z.string() }),
      outputSchema: z.object({ month: z.string(), rows: z.number() }),
      effect: 'read',
      syncWindow: 0,
    },
    async ({ month }, job) => {
      const parts = ['orders', 'returns', 'payments', 'totals'];
      let rows = 0;
      for (const [index, part] of parts.entries()) {
        rows += await job.step(`query ${part}`, async ({ signal }) => {
          note(`${month}: ${part} begun`);
          await delay(700, undefined, { signal });
          note(`${month}: ${part} done`);
          return 301;
        });
        job.progress(index + 1, parts.length, `${part} queried`);
      }
      return { structuredContent: { month, rows } };
    },
  );
  return server;
}

const web = createServer(tasks.handler(buildServer)).listen(Number(PORT), '127.0.0.1');
await tasks.ready();
process.stdout.write(`http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp\n`);
