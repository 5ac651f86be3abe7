import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Person } from '../crash/people.ts';
import { callAsTask, reaches, textOf as textOfResult } from '../wire/steps.ts';
import { bytesOf, textOf } from './content.ts';
import { createArtifactSite, linksOf } from './site.ts';

const MIB = 1024 ** 2;
const site = createArtifactSite();
beforeAll(() => site.start());
afterAll(() => site.remove());

const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

async function made(tool: string, bytes: number): Promise<string> {
  const client = site.client('alice');
  const taskId = await callAsTask(client, tool, { args: { bytes } });
  const [link] = linksOf((await reaches(client, taskId, 'completed'))['result']);
  return String(link?.['uri']);
}

async function take(person: Person, args: Readonly<Record<string, unknown>>): Promise<unknown> {
  const client = site.client(person);
  const taskId = await callAsTask(client, 'take', { args });
  return JSON.parse(textOfResult((await reaches(client, taskId, 'completed'))['result']));
}

async function refusal(person: Person, file: string): Promise<unknown> {
  const client = site.client(person);
  const taskId = await callAsTask(client, 'take', { args: { file } });
  return (await reaches(client, taskId, 'failed'))['error'];
}

const timesCalled = (): number =>
  readFileSync(site.callsLog, 'utf8')
    .split('\n')
    .filter((name) => name === 'take').length;

describe('a call that names an artifact', () => {
  test('gets its 300 KB of text as an argument, which the host could not have carried [Z2]', async () => {
    const uri = await made('text', 300_000);
    const text = textOf(300_000);
    const seen = await take('alice', { file: uri, note: uri });
    expect(seen).toEqual({ kind: 'string', length: text.length, sha256: sha256(text), note: uri });
  });

  test('gets bytes in base64, and a piece where it asks for one', async () => {
    const uri = await made('image', MIB);
    const base64 = bytesOf(MIB).toString('base64');
    expect(await take('alice', { file: uri })).toMatchObject({
      length: base64.length,
      sha256: sha256(base64),
    });
    const piece = bytesOf(MIB).subarray(10, 40).toString('base64');
    expect(await take('alice', { file: `${uri}?bytes=10-39` })).toMatchObject({
      sha256: sha256(piece),
    });
  });

  test('the list says which argument may do so', async () => {
    const { result } = await site.client('alice').request('tools/list');
    const tools = result?.['tools'] as {
      name: string;
      inputSchema: { properties: Record<string, unknown> };
    }[];
    const schema = tools.find(({ name }) => name === 'take')?.inputSchema.properties;
    expect(schema?.['file']).toMatchObject({
      type: 'string',
      description: expect.stringMatching(/^What to take\. .*longcall:\/\/artifacts\//) as string,
    });
    expect(schema?.['note']).toEqual({ type: 'string' });
  });
});

describe('a call that names what its owner cannot have', () => {
  let before = 0;
  beforeEach(() => {
    before = timesCalled();
  });

  test.each([
    ['an unknown one', () => 'longcall://artifacts/art_aaaaaaaaaaaaaaaaaaaaaaaaaaa'],
    ['what is no artifact', () => 'longcall://signing-key'],
    ['a foreign one', () => made('text', 300_000)],
  ])('%s is refused before anything is sent', async (_what, name) => {
    const error = await refusal('bob', await name());
    expect(error).toEqual({
      code: -32_603,
      message: 'argument file: no such artifact: it is unknown, or has expired; nothing was sent',
      data: { reason: 'artifact_unreadable', argument: 'file' },
    });
    expect(timesCalled()).toBe(before);
  });

  test('what is there and cannot be read ends the call at once, and nothing is sent', async () => {
    const uri = await made('text', 300_000);
    const file = join(site.folder, 'data', 'artifacts', uri.slice(uri.lastIndexOf('/') + 1));
    rmSync(file);
    symlinkSync(site.callsLog, file); // links are never followed
    expect(await refusal('alice', uri)).toMatchObject({
      message: 'argument file: the content of the artifact is damaged; nothing was sent',
    });
    expect(timesCalled()).toBe(before);
  });

  test('more than one call may carry is refused before anything is sent', async () => {
    const error = await refusal('alice', await made('text', 17 * MIB));
    expect(error).toMatchObject({
      message: expect.stringContaining(
        'more than the 16777216 that one call may carry; nothing was sent',
      ) as string,
    });
    expect(timesCalled()).toBe(before);
  });
});
