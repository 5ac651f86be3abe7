import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { systemRandom } from '../kernel/random.ts';
import { readFrame, writeFrame } from './frames.ts';
import { HandshakeRefused, receiveRequest, requestOf, type Credentials } from './handshake.ts';
import { isOlder } from './versions.ts';

const credentials = (fill: number, version = '1.0.0'): Credentials => ({
  secret: new Uint8Array(32).fill(fill),
  version,
  random: systemRandom,
});

/** Two ends of one connection, and everything that passed. */
function pair() {
  const passed: string[] = [];
  const [front, engine] = duplexPairOf(passed);
  return { front, engine, passed };
}

function duplexPairOf(passed: string[]): [Duplex, Duplex] {
  const ends: [Duplex | undefined, Duplex | undefined] = [undefined, undefined];
  const end = (own: 0 | 1): Duplex =>
    new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _, done) {
        passed.push(chunk.toString());
        ends[own === 0 ? 1 : 0]?.push(chunk);
        done();
      },
      final(done) {
        ends[own === 0 ? 1 : 0]?.push(null);
        done();
      },
    });
  const made: [Duplex, Duplex] = [end(0), end(1)];
  [ends[0], ends[1]] = made;
  return made;
}

const REQUEST = { purpose: 'serve', body: { wish: 'tools' } } as const;

describe('front and engine', () => {
  test('know each other by the secret, which never travels, nor does what was brought before', async () => {
    const { front, engine, passed } = pair();
    const received = receiveRequest(engine, credentials(1));
    const answered = requestOf(front, credentials(1, '1.2.0'), REQUEST);
    expect(await received).toEqual({ purpose: 'serve', version: '1.2.0', body: REQUEST.body });
    writeFrame(engine, { ok: true });
    expect(await answered).toMatchObject({ engine: { version: '1.0.0' }, reply: { ok: true } });
    const secret = Buffer.from(credentials(1).secret);
    for (const form of ['hex', 'base64', 'base64url', 'latin1'] as const)
      expect(passed.join('')).not.toContain(secret.toString(form));
    expect(passed.findIndex((text) => text.includes('tools'))).toBe(2);
  });

  test('a front tells nothing to whoever does not hold the secret', async () => {
    const { front, engine, passed } = pair();
    const received = receiveRequest(engine, credentials(2));
    await expect(requestOf(front, credentials(1), REQUEST)).rejects.toThrow(HandshakeRefused);
    front.end();
    await expect(received).rejects.toThrow('the other side has left');
    expect(passed.join('')).not.toContain('tools');
  });

  test('an engine does nothing for whoever does not hold it, even with the proof of another meeting', async () => {
    const earlier = pair();
    const first = receiveRequest(earlier.engine, credentials(1));
    void requestOf(earlier.front, credentials(1), REQUEST).catch(() => undefined);
    await first;
    const [hello, , replayed] = earlier.passed;
    const { front, engine } = pair();
    const received = receiveRequest(engine, credentials(1));
    front.write(hello);
    await readFrame(front);
    front.write(replayed);
    await expect(received).rejects.toThrow('does not hold the secret');
  });

  test('another version of the link is told apart before anything is said', async () => {
    const { front, engine } = pair();
    const asked = requestOf(front, credentials(1), REQUEST);
    await readFrame(engine);
    writeFrame(engine, { link: 7, version: '9.0.0', nonce: 'n'.repeat(32) });
    await expect(asked).rejects.toMatchObject({ otherLink: { link: 7, version: '9.0.0' } });
  });
});

describe('a frame', () => {
  test('may come in pieces, and leaves what follows it', async () => {
    const { front, engine } = pair();
    const frame = readFrame(engine);
    front.write('{"a"');
    front.write(': 1}\nthe rest');
    expect(await frame).toEqual({ a: 1 });
    expect(String(engine.read())).toBe('the rest');
  });

  test('that is none, or never ends, is refused', async () => {
    const other = pair();
    other.front.write('GET / HTTP/1.1\n');
    await expect(readFrame(other.engine)).rejects.toThrow('no frame');
    const endless = pair();
    const frame = readFrame(endless.engine);
    endless.front.write(Buffer.alloc(5 * 1024 ** 2, 'x'));
    await expect(frame).rejects.toThrow('too long');
  });
});

test.each([
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '1.0.0', false],
  ['1.0.0-rc.1', '1.0.0', true],
  ['1.0.0', '1.0.0-rc.1', false],
  ['2.0.0', '1.9.9', false],
])('%s is older than %s: %s', (version, than, expected) => {
  expect(isOlder(version, than)).toBe(expected);
});
