// The upstream behind longcall in the benchmark, also called directly (--http) to know what a plain call costs without it.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const inputSchema = { type: 'object' as const };

function buildServer(): Server {
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ['park', 'quick'].map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const answer = { content: [{ type: 'text' as const, text: 'ok' }] };
    return params.name === 'quick' ? answer : new Promise<typeof answer>(() => undefined);
  });
  return server;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await buildServer().connect(transport);
  return transport;
}

if (process.argv.includes('--http')) {
  const server = createServer((request, response) => {
    const session = sessions.get(String(request.headers['mcp-session-id'] ?? ''));
    void (async () => (session ?? (await openSession())).handleRequest(request, response))();
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address && typeof address === 'object')
      process.stdout.write(`listening http://127.0.0.1:${address.port}/mcp\n`);
  });
} else {
  await buildServer().connect(new StdioServerTransport());
}
