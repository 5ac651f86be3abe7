// An ordinary MCP server: it knows nothing of Tasks, and nobody changes it for this demo.
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** The "system of record": one line per thing that really happened. */
const RECORD = process.env['DEMO_RECORD'] ?? 'demo-record.log';
const note = (line: string): void => appendFileSync(RECORD, `${line}\n`);
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

const schema = (...names: readonly string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
});
const TOOLS = [
  {
    name: 'export_report',
    description: 'Takes a few seconds, changes nothing',
    inputSchema: schema('month'),
  },
  {
    name: 'deploy',
    description: 'Asks a person before it deploys',
    inputSchema: schema('version'),
  },
  { name: 'crunch', description: 'Works for a minute unless it is stopped', inputSchema: schema() },
  { name: 'pay', description: 'Pays an invoice', inputSchema: schema('invoice') },
];

const server = new Server(
  { name: 'acme-tools', version: '1.0.0' },
  { capabilities: { tools: {} } },
);
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));

async function exportReport(month: string) {
  await delay(4000);
  return text(`report for ${month}: 1,204 rows`);
}

async function deploy(version: string) {
  const answer = await server.elicitInput({
    message: `Deploy ${version} to production?`,
    requestedSchema: {
      type: 'object',
      properties: { approved: { type: 'boolean' } },
      required: ['approved'],
    },
  });
  return text(
    answer.action === 'accept' ? `deployed ${version}` : `not deployed: ${answer.action}`,
  );
}

async function crunch(signal: AbortSignal) {
  for (let second = 1; second <= 60; second += 1) {
    note(`crunch: second ${second}`);
    await delay(1000, undefined, { signal });
  }
  return text('crunched');
}

async function pay(invoice: string) {
  note(`pay: ${invoice} charged`); // the money is gone …
  await delay(30_000); // … and the answer takes its time
  return text(`paid ${invoice}`);
}

server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
  const args = (params.arguments ?? {}) as Record<string, string>;
  switch (params.name) {
    case 'export_report':
      return exportReport(args['month'] ?? 'May');
    case 'deploy':
      return deploy(args['version'] ?? 'v1');
    case 'crunch':
      return crunch(signal);
    default:
      return pay(args['invoice'] ?? 'inv_1');
  }
});

await server.connect(new StdioServerTransport());
