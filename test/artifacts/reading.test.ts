import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Person } from '../crash/people.ts';
import { callAsTask, objectAt, reaches, resultOf } from '../wire/steps.ts';
import { bytesOf, textOf } from './content.ts';
import { createArtifactSite, linksOf, pathOf } from './site.ts';

const MIB = 1024 ** 2;
const site = createArtifactSite();
let textUri = '';
let imageUri = '';
const TEXT = textOf(MIB);
const IMAGE = bytesOf(9 * MIB);

beforeAll(async () => {
  await site.start();
  textUri = await uriOf('text', MIB);
  imageUri = await uriOf('image', 9 * MIB);
});
afterAll(() => site.remove());

async function uriOf(tool: string, bytes: number): Promise<string> {
  const client = site.client('alice');
  const taskId = await callAsTask(client, tool, { args: { bytes } });
  const [link] = linksOf((await reaches(client, taskId, 'completed'))['result']);
  return String(link?.['uri']);
}

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  site.fetch('alice', path, { method, headers });
const bodyOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());

describe('over HTTP', () => {
  test('an artifact comes as a file that no browser runs, guesses or keeps', async () => {
    const response = await get(pathOf(textUri));
    expect(response.status).toBe(200);
    expect((await bodyOf(response)).toString()).toBe(TEXT);
    const sha256 = createHash('sha256').update(TEXT).digest();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(MIB),
      'content-disposition': `attachment; filename="text.txt"; filename*=UTF-8''text.txt`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
      etag: `"${sha256.toString('hex')}"`,
      'repr-digest': `sha-256=:${sha256.toString('base64')}:`,
    });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });

  test('HEAD says the same without the content', async () => {
    const [whole, head] = [await get(pathOf(textUri)), await get(pathOf(textUri), {}, 'HEAD')];
    await whole.arrayBuffer();
    const headersOf = ({ headers }: Response) =>
      Object.fromEntries(
        [...headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
      );
    expect(head.status).toBe(200);
    expect(await bodyOf(head)).toHaveLength(0);
    expect(headersOf(head)).toEqual(headersOf(whole));
  });

  test('a range in a HEAD counts for nothing', async () => {
    for (const range of ['bytes=0-9', 'bytes=9999999-']) {
      const head = await get(pathOf(textUri), { range }, 'HEAD');
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(MIB)]);
    }
  });

  test.each([
    ['bytes=0-9', 0, 10],
    ['bytes=10-10', 10, 11],
    ['bytes=1048570-', 1_048_570, MIB],
    ['bytes=1048570-9999999', 1_048_570, MIB],
    ['bytes=-5', MIB - 5, MIB],
    ['bytes=-9999999', 0, MIB],
  ])('the range %s is that piece', async (range, start, end) => {
    const response = await get(pathOf(textUri), { range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${MIB}`);
    expect(response.headers.get('content-length')).toBe(String(end - start));
    expect(await bodyOf(response)).toEqual(Buffer.from(TEXT).subarray(start, end));
  });

  test.each(['bytes=1048576-', 'bytes=2000000-3000000', 'bytes=-0'])(
    'the range %s lies outside',
    async (range) => {
      const response = await get(pathOf(textUri), { range });
      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe(`bytes */${MIB}`);
    },
  );

  test.each(['bytes=5-2', 'bytes=0-1,5-6', 'lines=0-1', 'bytes=a-b', 'bytes=-'])(
    'the range %s is none that is served, so that the whole comes',
    async (range) => {
      const response = await get(pathOf(textUri), { range });
      expect(response.status).toBe(200);
      expect(await bodyOf(response)).toHaveLength(MIB);
    },
  );

  test('a download that was cut off goes on, if it is still the same content', async () => {
    const etag = (await get(pathOf(textUri), {}, 'HEAD')).headers.get('etag') ?? '';
    const same = await get(pathOf(textUri), { range: 'bytes=5-', 'if-range': etag });
    expect(same.status).toBe(206);
    await same.arrayBuffer();
    const other = await get(pathOf(textUri), { range: 'bytes=5-', 'if-range': '"other"' });
    expect(other.status).toBe(200);
    expect(await bodyOf(other)).toHaveLength(MIB);
    const known = await get(pathOf(textUri), { 'if-none-match': `"x", ${etag}` });
    expect(known.status).toBe(304);
  });

  test('another person, nobody, an unknown id and no id at all get nothing, the same nothing [T13]', async () => {
    const unknown = '/artifacts/art_aaaaaaaaaaaaaaaaaaaaaaaaaaa';
    const seen = async (person: Person, path: string): Promise<string> => {
      const response = await site.fetch(person, path);
      const headers = [...response.headers].filter(([name]) => name !== 'date');
      return JSON.stringify([response.status, headers, await response.text()]);
    };
    const foreign = await seen('bob', pathOf(textUri));
    expect(JSON.parse(foreign)).toMatchObject({ 0: 404 });
    for (const path of [
      unknown,
      '/artifacts/',
      '/artifacts/x/y',
      '/artifacts/%2e%2e%2fsigning-key',
    ])
      expect(await seen('bob', path)).toBe(foreign);
    expect(await seen('alice', unknown)).toBe(foreign);
    const nobody = await site.fetch(undefined, pathOf(textUri));
    expect(nobody.status).toBe(401);
    expect(nobody.headers.get('www-authenticate')).toContain('Bearer');
  });

  test('nothing but reading is served, and no page of elsewhere is let in', async () => {
    for (const method of ['POST', 'DELETE', 'OPTIONS', 'PUT']) {
      const response = await get(pathOf(textUri), {}, method);
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
    const crossSite = await get(pathOf(textUri), { origin: 'https://evil.example' });
    expect(crossSite.status).toBe(403);
  });

  test('a reader who goes away in the middle hurts nobody', async () => {
    const { hostname, port } = new URL(site.gateway().url);
    const headers = { authorization: 'Bearer token-of-alice-for-tests-only' };
    await new Promise<void>((resolve, reject) => {
      const req = request({ hostname, port, path: pathOf(imageUri), headers }, (res) =>
        res.once('data', () => {
          res.destroy();
          resolve();
        }),
      );
      req.once('error', reject);
      req.end();
    });
    expect((await bodyOf(await get(pathOf(imageUri)))).equals(IMAGE)).toBe(true);
  });
});

describe('over MCP', () => {
  const readIn = {
    '2025-11-25': async (person: Person, uri: string) =>
      (await site.session(person)).request('resources/read', { uri }),
    '2026-07-28': (person: Person, uri: string) =>
      site.client(person).request('resources/read', { uri }, { headers: { 'mcp-name': uri } }),
  };

  describe.each(Object.entries(readIn))('%s', (generation, read) => {
    test('its owner reads text as text and a piece of it', async () => {
      const whole = resultOf(await read('alice', textUri), 'the artifact');
      const mimeType = 'text/plain; charset=utf-8';
      expect(whole['contents']).toEqual([{ uri: textUri, mimeType, text: TEXT }]);
      const piece = `${textUri}?bytes=0-14`;
      expect(resultOf(await read('alice', piece), 'a piece')['contents']).toEqual([
        { uri: piece, mimeType, text: 'row 0123456789 ' },
      ]);
    });

    test('what is too large for one answer says how to read it, and is read in pieces', async () => {
      const { error } = await read('alice', imageUri);
      expect(error).toMatchObject({
        code: -32_602,
        data: { reason: 'artifact_too_large', bytes: 9 * MIB, maxBytes: 8 * MIB },
      });
      expect(error?.message).toContain(pathOf(imageUri));
      const pieces = [];
      for (const [start, end] of [
        [0, 8 * MIB - 1],
        [8 * MIB, 9 * MIB - 1],
      ] as const) {
        const result = resultOf(
          await read('alice', `${imageUri}?bytes=${start}-${end}`),
          'a piece',
        );
        const [{ blob = '' } = {}] = result['contents'] as { blob?: string }[];
        pieces.push(Buffer.from(blob, 'base64'));
      }
      expect(Buffer.concat(pieces).equals(IMAGE)).toBe(true);
    });

    test('for everybody else it is as unknown as one that never was', async () => {
      const foreign = await read('bob', textUri);
      expect(foreign.error?.code).toBe(generation === '2025-11-25' ? -32_002 : -32_602);
      for (const uri of [
        'longcall://artifacts/art_aaaaaaaaaaaaaaaaaaaaaaaaaaa',
        'longcall://else',
        'longcall://artifacts/../x',
      ])
        expect((await read('bob', uri)).error).toEqual(foreign.error);
    });
  });

  test('resources can be read where the upstream has none, and lists tell of nobody’s artifacts', async () => {
    const session = await site.session('bob');
    expect(objectAt(session.initialized, 'capabilities')).toHaveProperty('resources');
    expect((await session.request('resources/list')).result).toEqual({ resources: [] });
    expect((await session.request('resources/templates/list')).result).toEqual({
      resourceTemplates: [],
    });
    expect(await session.request('resources/subscribe', { uri: textUri })).toMatchObject({
      result: {},
    });
    const discovered = await site.client('bob').request('server/discover');
    expect(objectAt(discovered.result, 'capabilities')).toHaveProperty('resources');
    const listed = await site.client('bob').request('resources/list');
    expect(listed.result).toMatchObject({ resources: [] });
  });
});
