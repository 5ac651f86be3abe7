/** A server whose answers are as large as asked for, and a tool that says what it was sent. */
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { serveRaw, type Message } from '../../gateway/servers/raw-stdio.ts';
import { bytesOf, rowsOf, textOf } from '../content.ts';

const size = { type: 'object', properties: { bytes: { type: 'integer' } } };
const table = { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] };

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

function answerOf(name: unknown, args: Message): Message | undefined {
  const bytes = Number(args['bytes'] ?? 0);
  switch (name) {
    case 'text':
    case 'plain_text':
      return { content: [{ type: 'text', text: textOf(bytes) }] };
    case 'failing_text':
      return { content: [{ type: 'text', text: textOf(bytes) }], isError: true };
    case 'fail_with':
      return { content: [{ type: 'text', text: String(args['said']) }], isError: true };
    case 'table':
      return {
        content: [{ type: 'text', text: JSON.stringify(rowsOf(bytes)) }],
        structuredContent: rowsOf(bytes),
      };
    case 'image':
      return {
        content: [
          { type: 'text', text: 'drawn' },
          { type: 'image', mimeType: 'image/png', data: bytesOf(bytes).toString('base64') },
          {
            type: 'resource',
            resource: {
              uri: 'file:///out/ra%20w.bin',
              mimeType: 'application/x-raw',
              blob: bytesOf(bytes + 1).toString('base64'),
            },
          },
        ],
      };
    case 'many':
      return {
        content: Array.from({ length: bytes / 100 }, (_, at) => ({
          type: 'text',
          text: `${at} `.padEnd(70, 'x'),
        })),
      };
    case 'take': {
      const { file, note } = args;
      const shown = typeof file === 'string' ? file : JSON.stringify(file);
      const seen = { kind: typeof file, length: shown.length, sha256: sha256(shown), note };
      return { content: [{ type: 'text', text: JSON.stringify(seen) }] };
    }
    default:
      return undefined;
  }
}

serveRaw({
  protocolVersion: '2025-11-25',
  tools: [
    ...['text', 'plain_text', 'failing_text', 'image', 'many', 'fail_with'].map((name) => ({
      name,
      inputSchema: size,
    })),
    { name: 'table', inputSchema: size, outputSchema: table },
    {
      name: 'take',
      inputSchema: {
        type: 'object',
        properties: {
          file: { type: 'string', description: 'What to take.' },
          note: { type: 'string' },
        },
      },
    },
  ],
  handle({ method, params, result, error }) {
    const { name, arguments: args = {} } = params;
    const log = process.env['CALLS_LOG'];
    if (log !== undefined && method === 'tools/call') appendFileSync(log, `${String(name)}\n`);
    const answer = method === 'tools/call' ? answerOf(name, args as Message) : undefined;
    return answer ? result(answer) : error({ code: -32_601, message: 'Method not found' });
  },
});
