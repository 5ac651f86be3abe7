// The physical limit: a node:http server that parses JSON and answers a task of fixed content.
import { createServer } from 'node:http';

const task = {
  taskId: 'x',
  status: 'working',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUpdatedAt: '2026-01-01T00:00:00.000Z',
  ttl: 60_000,
  pollInterval: 1000,
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      id: number;
      method: string;
    };
    const result = method === 'tools/call' ? { task } : task;
    const body = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object')
    process.stdout.write(`listening http://127.0.0.1:${address.port}/mcp\n`);
});
