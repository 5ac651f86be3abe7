// A deploy that asks a person first. While nobody has answered it costs no worker and survives restarts.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/server';
import { createTasks } from 'longcall/server';
import { z } from 'zod';

const { DATA: data = './longcall-data', DEEDS = 'deeds.log', PORT = '0' } = process.env;
const note = (deed: string): void => appendFileSync(DEEDS, `${deed}\n`);
const tasks = await createTasks({ data });

const APPROVAL = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', title: 'Deploy it' },
    window: { type: 'string', title: 'When', enum: ['now', 'tonight'] },
  },
  required: ['approved'],
};

function buildServer() {
  const server = new McpServer({ name: 'deploys', version: '1.0.0' });
  tasks.tool(
    server,
    'deploy',
    {
      description: 'Deploys a version, after a person has said yes',
      inputSchema: z.object({ version: z.string() }),
      effect: 'reversible',
      syncWindow: 0,
      inputExpiry: '1h',
    },
    async ({ version }, job) => {
      await job.step('build', () => {
        note(`built ${version}`);
        return null;
      });
      const answer = await job.ask('approval', {
        message: `Deploy ${version} to production?`,
        schema: APPROVAL,
      });
      if (answer.action !== 'accept' || answer.content['approved'] !== true)
        return `${version} was not deployed`;
      const { at } = await job.effect('deploy', ({ key }) => {
        note(`deployed ${version} under ${key.slice(0, 4)}…`);
        return { at: 'production' };
      });
      return `${version} is in ${at}`;
    },
  );
  return server;
}

const web = createServer(tasks.handler(buildServer)).listen(Number(PORT), '127.0.0.1');
await tasks.ready();
process.stdout.write(`http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp\n`);
