import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession, type Session2025 } from '../wire/client.ts';
import { bearerOf } from '../crash/people.ts';
import { bytesOf, textOf } from './content.ts';
import { blocksOf, createArtifactSite, linksOf, pathOf } from './site.ts';

/** Where hosts cut what a tool answers. */
const HOST_BYTES_MAX = 25_000;
const site = createArtifactSite({
  tools: { '*': { effect: 'read' } }, // nobody asked for artifacts
});
let session: Session2025;

beforeAll(async () => {
  await site.start();
  const endpoint = { url: site.gateway().url, headers: bearerOf('alice') };
  session = await openSession(endpoint, { protocolVersion: '2025-06-18', capabilities: {} });
});
afterAll(() => site.remove());

interface Job {
  readonly job: string;
  readonly parts?: number;
}

/** What a host shows to a model: texts, and what is structured. */
function shownBytes(result: Readonly<Record<string, unknown>>): number {
  const blocks = blocksOf(result).map((block) =>
    block['type'] === 'text' ? String(block['text']) : JSON.stringify(block),
  );
  const structured = JSON.stringify(result['structuredContent'] ?? '');
  return Buffer.byteLength([...blocks, structured].join(''));
}

async function call(name: string, args: Readonly<Record<string, unknown>>) {
  const { result, error } = await session.request('tools/call', { name, arguments: args });
  if (!result) throw new Error(`${name} was refused: ${JSON.stringify(error)}`);
  return result;
}

describe('a host that has no Tasks and cuts at 25 KB', () => {
  test.each([
    ['text', 20_000_000],
    ['plain_text', 300_000],
    ['failing_text', 300_000],
    ['table', 300_000],
    ['image', 300_000],
    ['many', 300_000],
  ])('gets on with %s of %i bytes, and loses nothing of it [Z1, Z2]', async (tool, bytes) => {
    const result = await call(tool, { bytes });
    expect(shownBytes(result)).toBeLessThanOrEqual(HOST_BYTES_MAX);
    expect(result['isError'] === true).toBe(tool === 'failing_text');
    const [link] = linksOf(result);
    expect(link, JSON.stringify(result).slice(0, 2_000)).toBeDefined();
    const read = await site.fetch('alice', pathOf(link?.['uri']));
    const content = Buffer.from(await read.arrayBuffer());
    if (tool.endsWith('text')) expect(content.toString()).toBe(textOf(bytes));
    if (tool === 'image')
      expect(content.equals(bytesOf(bytes + 1)) || content.equals(bytesOf(bytes))).toBe(true);
  });

  test('reads a text to its end in parts', async () => {
    let result = await call('plain_text', { bytes: 300_000 });
    const { longcall } = result['structuredContent'] as { readonly longcall: Job };
    const { job, parts = 1 } = longcall;
    const read: string[] = [];
    for (let part = 1; part <= parts; part += 1) {
      if (part > 1) result = await call('longcall_result', { job, part });
      read.push(String(blocksOf(result)[1]?.['text']));
    }
    expect(read.join('')).toBe(textOf(300_000));
  });
});
