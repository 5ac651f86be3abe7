/** A server that asks for a password in a form: by a request on 2025-11-25, in a round on 2026-07-28. */
import { serveRaw, type Message } from './raw-stdio.ts';

const protocolVersion = process.argv[2] ?? '2025-11-25';

const params = {
  mode: 'form',
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: { user: { type: 'string' }, password: { type: 'string' } },
  },
};

let call: string | number | undefined;
const answer = (message: Message): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: call, ...message })}\n`);

serveRaw({
  protocolVersion,
  tools: ['log_in'],
  handle(request) {
    call = request.id;
    if (protocolVersion === '2025-11-25')
      return request.write({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
    const inputRequests = { who: { method: 'elicitation/create', params } };
    return request.result({ resultType: 'input_required', inputRequests });
  },
  answered: ({ error }) =>
    answer({ result: { content: [{ type: 'text', text: JSON.stringify(error) }] } }),
});
