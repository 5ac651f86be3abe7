/** A server that tells where it runs and with what, and one slow tool whose beginnings and ends can be counted. */
import { appendFileSync } from 'node:fs';
import { serveRaw } from '../gateway/servers/raw-stdio.ts';

const text = (value: unknown): object => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
});
const note = (word: string): void => {
  const file = process.env['EFFECTS_LOG'];
  if (file !== undefined) appendFileSync(file, `${word}\n`);
};

serveRaw({
  protocolVersion: '2025-11-25',
  tools: ['where', 'slow', 'never'],
  handle({ params, result, error }) {
    const { ACCOUNT: account, EFFECTS_LOG: _log, ...environment } = process.env;
    const args = (params['arguments'] ?? {}) as { readonly ms?: number; readonly as?: string };
    switch (params['name']) {
      case 'where':
        return result(
          text({ pid: process.pid, cwd: process.cwd(), account, names: Object.keys(environment) }),
        );
      case 'slow':
        note(`began ${args.as}`);
        return void setTimeout(() => {
          note(`ended ${args.as}`);
          result(text({ slept: args.as }));
        }, args.ms ?? 100);
      case 'never':
        return note(`began ${args.as}`);
      default:
        return error({ code: -32_601, message: 'Method not found' });
    }
  },
});
