// A payment: what is sent to the bank is in the ledger before it leaves, and is never sent again by guess.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/server';
import { createTasks } from 'longcall/server';
import { z } from 'zod';

const { DATA: data = './longcall-data', BANK = '', PORT = '0' } = process.env;
const tasks = await createTasks({ data, admin: '127.0.0.1:0' });

async function charge(invoice: string, key: string): Promise<{ receipt: string }> {
  const headers = { 'idempotency-key': key };
  const response = await fetch(`${BANK}/charges/${invoice}`, { method: 'POST', headers });
  return (await response.json()) as { receipt: string };
}

function buildServer() {
  const server = new McpServer({ name: 'payments', version: '1.0.0' });
  tasks.tool(
    server,
    'pay_invoice',
    {
      description: 'Pays an invoice',
      inputSchema: z.object({ invoice: z.string() }),
      effect: 'consequential',
      idempotencyKey: ['invoice'],
      syncWindow: 0,
    },
    ({ invoice }, job) => job.effect('charge', ({ key }) => charge(invoice, key)),
  );
  return server;
}

const web = createServer(tasks.handler(buildServer)).listen(Number(PORT), '127.0.0.1');
await tasks.ready();
process.stdout.write(`http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp\n`);
