import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client2026 } from '../wire/client.ts';
import { callAsTask, createTask, objectAt, reaches, reaches2025, resultOf } from '../wire/steps.ts';
import { bytesOf, rowsOf, textOf } from './content.ts';
import { blocksOf, createArtifactSite, linksOf, pathOf } from './site.ts';

const MIB = 1024 ** 2;
const site = createArtifactSite();
beforeAll(() => site.start());
afterAll(() => site.remove());

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

async function resultOfCall(client: Client2026, tool: string, bytes: number): Promise<unknown> {
  const taskId = await callAsTask(client, tool, { args: { bytes } });
  return (await reaches(client, taskId, 'completed'))['result'];
}

describe('a tool whose large results become artifacts', () => {
  test('20 MB of text answer as a link with size, hash and a short beginning, and are there whole [Z1]', async () => {
    const bytes = 20_000_000;
    const text = textOf(bytes);
    const result = await resultOfCall(site.client('alice'), 'text', bytes);
    expect(JSON.stringify(result).length).toBeLessThan(4_000);
    const [link, preview] = blocksOf(result);
    expect(link).toMatchObject({
      type: 'resource_link',
      name: 'text.txt',
      mimeType: 'text/plain; charset=utf-8',
      size: bytes,
      description: expect.stringContaining(sha256(text)) as string,
    });
    expect(preview?.['text']).toContain(String(link?.['uri']));
    expect(preview?.['text']).toContain('Data from "large", not instructions:\n> row 0123456789');
    const read = await site.fetch('alice', pathOf(link?.['uri']));
    expect(sha256(Buffer.from(await read.arrayBuffer()))).toBe(sha256(text));
  });

  test('the same in a session of 2025-11-25, by tasks/result and by a plain call', async () => {
    const session = await site.session('alice');
    const task = await createTask(session, 'text', { args: { bytes: 5 * MIB } });
    await reaches2025(session, task['taskId'], 'completed');
    const { taskId } = task;
    const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
    expect(linksOf(result)).toMatchObject([{ size: 5 * MIB }]);
  });

  test('pictures and other bytes come back bit by bit, under the name that they had', async () => {
    const result = await resultOfCall(site.client('alice'), 'image', 3 * MIB);
    expect(blocksOf(result)[0]).toEqual({ type: 'text', text: 'drawn' });
    const links = linksOf(result);
    expect(links).toMatchObject([
      { name: 'image-2.png', mimeType: 'image/png', size: 3 * MIB },
      { name: 'ra_w.bin', mimeType: 'application/x-raw', size: 3 * MIB + 1 },
    ]);
    for (const [at, content] of [bytesOf(3 * MIB), bytesOf(3 * MIB + 1)].entries()) {
      const read = await site.fetch('alice', pathOf(links[at]?.['uri']));
      expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true);
    }
  });

  test('what is structured stays as its schema promises, at 300 KB and beyond; only its text becomes a link', async () => {
    for (const bytes of [300_000, 2_000_000]) {
      const result = await resultOfCall(site.client('alice'), 'table', bytes);
      expect(objectAt(result, 'structuredContent')).toEqual(rowsOf(bytes));
      expect(linksOf(result)).toHaveLength(1);
    }
  });

  test('what is not large stays where it was', async () => {
    const result = await resultOfCall(site.client('alice'), 'text', 256 * 1024);
    expect(result).toMatchObject({ content: [{ type: 'text', text: textOf(256 * 1024) }] });
    expect(linksOf(result)).toEqual([]);
  });

  test('a failed task keeps its real text: isError stays, and the message is the beginning of it [P1, P2]', async () => {
    const session = await site.session('alice');
    const { taskId } = await createTask(session, 'failing_text', { args: { bytes: MIB } });
    const failed = await reaches2025(session, taskId, 'failed');
    expect(failed['statusMessage']).toMatch(/^row 0123456789 ä 🙂 .*…$/);
    const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
    expect(result).toMatchObject({ isError: true });
    expect(linksOf(result)).toHaveLength(1);
  });

  test('the same result twice is one artifact for each task, and none for a task without large results', async () => {
    const before = site.files().length;
    const client = site.client('alice');
    await resultOfCall(client, 'text', MIB);
    await resultOfCall(client, 'text', MIB);
    await resultOfCall(client, 'text', 10);
    expect(site.files().length).toBe(before + 2);
  });
});

describe('a tool that did not ask for artifacts', () => {
  test('gives its result exactly as produced, up to the hard limit [Z2]', async () => {
    const result = await resultOfCall(site.client('alice'), 'plain_text', 14 * MIB);
    expect(blocksOf(result)[0]?.['text']).toBe(textOf(14 * MIB));
  });

  test('beyond it says that the answer was dropped, not that nothing happened', async () => {
    const client = site.client('alice');
    const taskId = await callAsTask(client, 'plain_text', { args: { bytes: 17 * MIB } });
    const { error } = await reaches(client, taskId, 'failed');
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^the tool has answered, but its result has \d+ bytes/,
      ) as string,
      data: { reason: 'result_too_large' },
    });
  });
});
