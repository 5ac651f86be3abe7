import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { eventually } from '../wire/check.ts';
import { textOf } from '../wire/steps.ts';
import { callThrough, HOSTS, openHost } from './hosts.ts';
import { KINDS } from './servers/kinds.ts';
import { createSite, TRANSPORTS, type Site } from './site.ts';

const ACCEPT = { action: 'accept', content: { approved: true } };

/** What a handler really did, in its order. */
const deedsOf = ({ effects }: Site, tag: string): readonly unknown[] =>
  effects.lines(tag).map(({ detail }) => detail);

let made = 0;
const newTag = (): string => `tag-${(made += 1)}`;

describe.each(KINDS)('tools with a journal on a server of kind %s', (kind) => {
  describe.each(TRANSPORTS)('over %s', (transport) => {
    const site = createSite(kind, transport);
    afterAll(() => site.stop());

    describe.each(HOSTS)('for a host of %s', (hostName) => {
      test('do their steps and give their result', async () => {
        const [host, tag] = [await openHost(hostName, await site.enter(hostName)), newTag()];
        const gate = join(site.folder, `${tag}.gate`);
        const call = await host.begin('report', { tag, gate });
        await eventually(() => deedsOf(site, tag).includes('wait') || undefined, 'the second step');
        writeFileSync(gate, '');
        const { result } = await call.outcome;
        expect(textOf(result)).toBe(`report: rows of ${tag}`);
        expect(deedsOf(site, tag)).toEqual(['query', 'wait', 'write']);
      });

      test('ask a person in the middle, and do nothing twice for it', async () => {
        const [host, tag] = [await openHost(hostName, await site.enter(hostName)), newTag()];
        const { result } = await callThrough(host, 'deploy', { args: { tag }, answer: ACCEPT });
        expect(textOf(result)).toBe(`deployed ${tag}`);
        expect(deedsOf(site, tag)).toEqual(['prepare', 'deployed']);
      });

      verifies('G1-66', 'hear of a cancel', async () => {
        const [host, tag] = [await openHost(hostName, await site.enter(hostName)), newTag()];
        const call = await host.begin('endless', { tag });
        await eventually(() => site.effects.lines(tag).length > 0 || undefined, 'the start');
        await call.cancel();
        await eventually(
          () => site.effects.lines(tag).some(({ event }) => event === 'cancelled') || undefined,
          'the cancel',
        );
      });

      verifies(['G1-41', 'G2-46'], 'have their output schema checked by the SDK [V3]', async () => {
        const host = await openHost(hostName, await site.enter(hostName));
        const good = await callThrough(host, 'measured', { args: { rows: 3 } });
        expect(good.result).toMatchObject({ structuredContent: { rows: 3 } });
        const bad = await callThrough(host, 'measured', { args: { rows: 'many' } });
        expect(bad.result).toMatchObject({ isError: true });
      });

      test('that throw end with their own words, secrets taken out', async () => {
        const host = await openHost(hostName, await site.enter(hostName));
        const words = 'no rows; Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789';
        const { result } = await callThrough(host, 'throws', { args: { words } });
        expect(result).toMatchObject({ isError: true });
        expect(textOf(result)).toContain('no rows');
        expect(textOf(result)).not.toContain('abcdefghijkl');
      });
    });
  });
});
