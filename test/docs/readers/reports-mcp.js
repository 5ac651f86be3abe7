// A server over stdio that nobody can change.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const server = new McpServer({ name: 'reports', version: '1.0.0' });
server.registerTool('export_report', { inputSchema: { month: z.string() } }, ({ month }) =>
  text(`report for ${month}`),
);
server.registerTool('pay_invoice', { inputSchema: { invoice: z.string() } }, ({ invoice }) =>
  text(`paid ${invoice}`),
);
await server.connect(new StdioServerTransport());
