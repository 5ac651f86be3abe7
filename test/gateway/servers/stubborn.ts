/** A server that neither the end of its input nor SIGTERM ends. */
import { serveRaw } from './raw-stdio.ts';

process.on('SIGTERM', () => undefined);
setInterval(() => undefined, 60_000);

serveRaw({
  protocolVersion: '2025-11-25',
  tools: ['pid'],
  handle: ({ result }) =>
    result({ content: [{ type: 'text', text: JSON.stringify({ pid: process.pid }) }] }),
});
