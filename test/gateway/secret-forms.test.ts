import { describe, expect } from 'vitest';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { verifies } from '../requirements/verifies.ts';
import { failureOf, forward, startGateway, textOf } from './gateway-kit.ts';
import { EVERY_ASK, run } from './test-job.ts';

const SERVER = new URL('./servers/secret-form.ts', import.meta.url).pathname;
const start = (version: string) =>
  startGateway({
    upstreams: [{ endpoint: { kind: 'stdio', ...typescriptCommand(SERVER, version) } }],
  });

const CALL = ['tools/call', { name: 'log_in', arguments: {} }] as const;

describe('a form that asks for a password', () => {
  verifies(
    ['G1-50', 'G2-69', 'T44'],
    'of an upstream of 2025-11-25 is refused there, and nobody is asked',
    async () => {
      const gateway = await start('2025-11-25');
      const call = run(gateway, { tool: 'log_in', asks: EVERY_ASK });
      const { outcome } = await call.end;
      expect(call.questions).toEqual([]);
      const heard = textOf(outcome.kind === 'result' ? outcome.result : {});
      expect(JSON.parse(heard)).toMatchObject({
        code: -32_602,
        data: { reason: 'secret_in_form' },
      });
    },
  );

  verifies(
    ['G1-50', 'G2-69', 'T44'],
    'of an upstream of 2026-07-28 ends the call with words that name the way out',
    async () => {
      const gateway = await start('2026-07-28');
      const call = run(gateway, { tool: 'log_in', asks: EVERY_ASK });
      const { outcome } = await call.end;
      expect(call.questions).toEqual([]);
      expect(outcome).toMatchObject({ kind: 'error', error: { code: -32_603 } });
      expect(JSON.stringify(outcome)).toContain('URL mode');
    },
  );

  verifies(
    ['G1-50', 'G2-69', 'T44'],
    'is not passed on either where calls are forwarded as they are',
    async () => {
      const gateway = await start('2026-07-28');
      for (const generation of ['2025-11-25', '2026-07-28'] as const) {
        const asked: unknown[] = [];
        const refused = forward(gateway, CALL, {
          generation,
          asks: EVERY_ASK,
          onAsk: (question) => Promise.reject(new Error(String(asked.push(question)))),
        });
        expect((await failureOf(refused)).message).toContain('URL mode');
        expect(asked).toEqual([]);
      }
    },
  );
});
