/** A server that says what a parser can read and nobody can write again. */
import { serveRaw } from '../../gateway/servers/raw-stdio.ts';

const LEVELS = 20_000;
const deep = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

serveRaw({
  protocolVersion: '2025-11-25',
  tools: ['deep_answer', 'deep_log', 'ask'],
  capabilities: { logging: {} },
  handle({ id, method, params, write, result, error }) {
    if (method !== 'tools/call') return error({ code: -32_601, message: 'Method not found' });
    if (params['name'] === 'ask') {
      asking = id;
      return write({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: QUESTION });
    }
    if (params['name'] === 'deep_answer')
      return say(`{"jsonrpc":"2.0","id":"${id}","result":{"content":[],"x":${deep}}}`);
    say(
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${deep}}}`,
    );
    return result({ content: [{ type: 'text', text: 'logged' }] });
  },
  answered({ result }) {
    const content = [{ type: 'text', text: JSON.stringify(result) }];
    say(JSON.stringify({ jsonrpc: '2.0', id: asking, result: { content } }));
  },
});

const QUESTION = { message: 'go on?', requestedSchema: { type: 'object', properties: {} } };
let asking: string | number = '';
