/** A server that answers in ways that no SDK would send. */
import { serveRaw, type RawRequest } from './raw-stdio.ts';

const ANSWERS: Readonly<Record<string, (request: RawRequest) => void>> = {
  null_result: ({ result }) => result(null),
  text_result: ({ result }) => result('done'),
  no_content: ({ result }) => result({ something: 'else' }),
  no_code: ({ error }) => error({ message: 'no code' }),
  no_answer_member: ({ id, write }) => write({ jsonrpc: '2.0', id }),
  /** Members beside result that the schema of an SDK would reject. */
  extra_members: ({ id, write }) =>
    write({
      jsonrpc: '2.0',
      id,
      'com.example/hop': 1,
      result: { content: [], 'com.example/kept': true },
    }),
  structured_only: ({ result }) => result({ structuredContent: [1, 2] }),
  banner: ({ result, write }) => {
    process.stdout.write('Server ready!\n\n');
    write(['a', 'batch', 'of', 'nothing']);
    result({ content: [{ type: 'text', text: 'after the banner' }] });
  },
  /** Asks outside of 2025-11-25's three questions. */
  unknown_question: ({ id, write }) => {
    waiting.set('q', id);
    write({ jsonrpc: '2.0', id: 'q', method: 'com.example/ask', params: {} });
  },
  /** Answers twice, and once for nobody. */
  twice: ({ result, write }) => {
    write({ jsonrpc: '2.0', id: 'nobody', result: {} });
    result({ content: [{ type: 'text', text: 'first' }] });
    result({ content: [{ type: 'text', text: 'second' }] });
  },
};

const waiting = new Map<unknown, string | number>();

serveRaw({
  protocolVersion: '2025-11-25',
  tools: Object.keys(ANSWERS),
  handle(request) {
    const answer = ANSWERS[String(request.params['name'])];
    if (request.method === 'tools/call' && answer) return answer(request);
    return request.error({ code: -32_601, message: 'Method not found' });
  },
  answered({ id, error }) {
    const call = waiting.get(id);
    if (call === undefined) return;
    const text = JSON.stringify(error);
    const result = { content: [{ type: 'text', text }] };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: call, result })}\n`);
  },
});
