/** A server of 2026-07-28 whose task hears a cancel, goes on for a moment, and ends with a result. */
import { serveRaw } from './raw-stdio.ts';

const GOES_ON_MS = 300;

const task = {
  taskId: 'late',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUpdatedAt: '2026-01-01T00:00:00.000Z',
  ttlMs: 60_000,
  pollIntervalMs: 50,
};
let done = false;

serveRaw({
  protocolVersion: '2026-07-28',
  tools: ['late'],
  capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  handle({ method, result, error }) {
    if (method === 'tools/call') return result({ ...task, status: 'working', resultType: 'task' });
    if (method === 'tasks/cancel') {
      setTimeout(() => (done = true), GOES_ON_MS);
      return result({ resultType: 'complete' });
    }
    if (method !== 'tasks/get') return error({ code: -32_601, message: 'Method not found' });
    const content = [{ type: 'text', text: 'done all the same' }];
    const end = done ? { status: 'completed', result: { content } } : { status: 'working' };
    return result({ ...task, ...end, resultType: 'complete' });
  },
});
