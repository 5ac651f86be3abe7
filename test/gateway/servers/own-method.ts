/** A server with a method of its own. */
import { serveRaw } from './raw-stdio.ts';

serveRaw({
  protocolVersion: '2025-11-25',
  tools: [],
  handle({ method, params, result, error }) {
    if (method === 'com.example/add')
      return result({ sum: Number(params['a']) + Number(params['b']) });
    return error({ code: -32_601, message: 'Method not found' });
  },
});
