import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { untilTrue } from '../crash/until.ts';
import { callAsTask, reaches } from '../wire/steps.ts';
import { textOf } from './content.ts';
import { createArtifactSite, linksOf, pathOf, type ArtifactSite } from './site.ts';

const MIB = 1024 ** 2;
let site: ArtifactSite;
beforeEach(() => {
  site = createArtifactSite();
});
afterEach(() => site.remove());

const timesCalled = (): number => readFileSync(site.callsLog, 'utf8').trim().split('\n').length;

/** Whole files, and what was being written. */
const isWhole = (name: string): boolean => !name.endsWith('.part');

describe('the gateway dies while it keeps a large result', () => {
  test.each([
    ['before the content has its name', 'before-blob-named', { files: 1, whole: 0 }],
    ['between content and row', 'after-blob', { files: 1, whole: 1 }],
    ['between row and settlement', 'after-artifact', { files: 1, whole: 1 }],
    ['after the settlement', 'after-settlement', { files: 1, whole: 1 }],
  ] as const)('%s: nothing is lost, nothing is left over', async (_when, point, left) => {
    const dying = await site.start({ point, nth: 1 });
    const taskId = await callAsTask(site.client('alice'), 'text', { args: { bytes: 5 * MIB } });
    expect(await dying.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(site.files()).toHaveLength(left.files);
    expect(site.files().filter(isWhole)).toHaveLength(left.whole);

    await site.start();
    const ended = await reaches(site.client('alice'), taskId, 'completed');
    const links = linksOf(ended['result']);
    expect(links).toMatchObject([{ size: 5 * MIB }]);
    const read = await site.fetch('alice', pathOf(links[0]?.['uri']));
    expect(await read.text()).toBe(textOf(5 * MIB));
    expect(site.files()).toEqual([pathOf(links[0]?.['uri']).replace('/artifacts/', '')]);
    expect(timesCalled()).toBe(point === 'after-settlement' ? 1 : 2); // a read is done again
  });

  test('content that nobody knows goes at the next start, a row whose content is gone looks unknown', async () => {
    await site.start();
    const client = site.client('alice');
    const taskId = await callAsTask(client, 'text', { args: { bytes: MIB } });
    const [link] = linksOf((await reaches(client, taskId, 'completed'))['result']);
    await site.gateway().kill();
    const folder = join(site.folder, 'data', 'artifacts');
    const [known = ''] = site.files();
    const stranger = `art_${'s'.repeat(27)}`;
    writeFileSync(join(folder, stranger), 'left over');
    await site.start();
    await untilTrue(() => !site.files().includes(stranger), 'the file to go');
    expect(site.files()).toEqual([known]);

    await site.gateway().kill();
    writeFileSync(join(folder, known), ''); // there, and shorter than its row says
    await site.start();
    await expect(
      site.fetch('alice', pathOf(link?.['uri'])).then((response) => response.arrayBuffer()),
    ).rejects.toThrow(/terminated|fetch failed/);
    const read = await site
      .client('alice')
      .request(
        'resources/read',
        { uri: String(link?.['uri']) },
        { headers: { 'mcp-name': String(link?.['uri']) } },
      );
    expect(read.error?.message).toBe('no such artifact: it is unknown, or has expired');
  });
});
