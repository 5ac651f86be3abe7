/** A server of 2025-06-18 that ends when it is asked anything before `initialize`, as those of some SDKs do. */
import { serveRaw } from './raw-stdio.ts';

serveRaw({
  protocolVersion: '2025-06-18',
  tools: ['hello'],
  early: () => process.exit(1),
  handle: ({ result }) => result({ content: [{ type: 'text', text: 'hello' }] }),
});
