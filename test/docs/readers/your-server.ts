// A server as a reader may have it: the MCP SDK 1.x, nothing of longcall.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

export function buildServer(): McpServer {
  const server = new McpServer({ name: 'reports', version: '1.0.0' });
  server.registerTool('export_report', { inputSchema: { month: z.string() } }, ({ month }) =>
    text(`report for ${month}`),
  );
  server.registerTool('send_invoice', { inputSchema: { id: z.string() } }, ({ id }) =>
    text(`sent ${id}`),
  );
  return server;
}
