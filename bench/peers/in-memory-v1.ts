// The peer: the official SDK v1 with its experimental in-memory task store, over Streamable HTTP with sessions.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const taskStore = new InMemoryTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();
const sessions = new Map<string, StreamableHTTPServerTransport>();

/** A tool whose task is created and then left working: what is measured is the create, not the work. */
function buildServer(): McpServer {
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const server = new McpServer(
    { name: 'in-memory-v1', version: '1.0.0' },
    { capabilities: { tools: {}, tasks }, taskStore, taskMessageQueue },
  );
  server.experimental.tasks.registerToolTask(
    'park',
    { description: 'stays working', execution: { taskSupport: 'optional' } },
    {
      createTask: async (extra) => ({ task: await extra.taskStore.createTask({ ttl: 3_600_000 }) }),
      getTask: async (extra) => await extra.taskStore.getTask(extra.taskId),
      getTaskResult: async () => ({ content: [] }),
    },
  );
  server.registerTool('quick', { description: 'answers at once' }, () => ({
    content: [{ type: 'text', text: 'ok' }],
  }));
  return server;
}

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await buildServer().connect(transport);
  return transport;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const session = sessions.get(String(request.headers['mcp-session-id'] ?? ''));
  await (session ?? (await openSession())).handleRequest(request, response);
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object')
    process.stdout.write(`listening http://127.0.0.1:${address.port}/mcp\n`);
});
