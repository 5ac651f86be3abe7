import { afterAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { textOf } from '../wire/steps.ts';
import { callThrough, HOSTS, openHost } from './hosts.ts';
import { KINDS } from './servers/kinds.ts';
import { createSite, TRANSPORTS } from './site.ts';

const ACCEPT = { action: 'accept', content: { approved: true } };

describe.each(KINDS)('tools that a server of kind %s has already', (kind) => {
  describe.each(TRANSPORTS)('over %s', (transport) => {
    const site = createSite(kind, transport);
    afterAll(() => site.stop());

    describe.each(HOSTS)('for a host of %s', (hostName) => {
      test('are called, and their result is read, without a change in their handlers', async () => {
        const host = await openHost(hostName, await site.enter(hostName));
        const call = await host.begin('slow', { ms: 20 });
        const { result } = await call.outcome;
        expect(textOf(result)).toBe('slept 20');
        expect(call.taskId !== undefined).toBe(hostName !== 'none');
      });

      test('ask in the middle, through the API that they know, and get the answer', async () => {
        const host = await openHost(hostName, await site.enter(hostName));
        const { result } = await callThrough(host, 'ask', { answer: ACCEPT });
        expect(textOf(result)).toBe('accept {"approved":true}');
      });

      verifies(
        ['G1-41', 'G2-46'],
        'have their output schema checked on the final result alone [V3]',
        async () => {
          const host = await openHost(hostName, await site.enter(hostName));
          const good = await callThrough(host, 'measure', { args: { rows: 3 } });
          expect(good.result).toMatchObject({ structuredContent: { rows: 3 } });
          const bad = await callThrough(host, 'measure', { args: { rows: 'many' } });
          expect(bad.result).toMatchObject({ isError: true });
          expect(textOf(bad.result)).toMatch(/structured content|structuredContent|validation/i);
        },
      );

      test('refuse wrong arguments in the words of their own SDK', async () => {
        const host = await openHost(hostName, await site.enter(hostName));
        const { result, error } = await callThrough(host, 'slow', { args: { ms: 'long' } });
        const words = result ? textOf(result) : String(error?.['message']);
        expect(words).toMatch(/expected number, received string/i);
        expect(error?.['code']).toBe(kind === 'fastmcp' ? -32602 : undefined);
      });
    });
  });
});
