/** A server that answers `late` only when `next` is called: after having asked once more, and before the answer to `next`. */
import { serveRaw, type RawRequest } from '../../gateway/servers/raw-stdio.ts';

let held: RawRequest | undefined;

const text = (said: string) => ({ content: [{ type: 'text', text: said }] });

const question = {
  message: 'Whose question is this?',
  requestedSchema: { type: 'object', properties: {} },
};

serveRaw({
  protocolVersion: '2025-11-25',
  tools: ['late', 'next'],
  handle(request) {
    if (request.params['name'] === 'late') {
      held = request;
      // Tells that the call has come, on a way that no cancel closes.
      const params = { level: 'info', data: 'late is held' };
      return request.write({ jsonrpc: '2.0', method: 'notifications/message', params });
    }
    if (held) {
      const asking = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: question };
      request.write(asking);
      held.result(text('late'));
    }
    return request.result(text('next'));
  },
});
