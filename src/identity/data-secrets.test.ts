import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemRandom } from '../kernel/random.ts';
import { ensureSigningKey, ensureToken } from './data-secrets.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longcall-secrets-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const options = () => ({ directory, random: systemRandom });
const modeOf = (file: string): number => statSync(join(directory, file)).mode & 0o777;

describe('a first start', () => {
  test('makes tokens of 256 random bits and a key of 32 bytes, readable by the owner alone', () => {
    const tokens = [ensureToken('localToken', options()), ensureToken('adminToken', options())];
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens)
      expect(Buffer.from(token.slice('lct_'.length), 'base64url')).toHaveLength(32);
    expect(ensureSigningKey(options())).toHaveLength(32);
    expect(['local-token', 'admin-token', 'signing-key'].map(modeOf)).toEqual([
      0o600, 0o600, 0o600,
    ]);
  });

  test('the mode does not depend on the umask', () => {
    const before = process.umask(0);
    try {
      ensureSigningKey(options());
    } finally {
      process.umask(before);
    }
    expect(modeOf('signing-key')).toBe(0o600);
  });
});

describe('a later start', () => {
  test('finds the same ones', () => {
    const first = [
      ensureToken('localToken', options()),
      Buffer.from(ensureSigningKey(options())).toString('hex'),
    ];
    const second = [
      ensureToken('localToken', options()),
      Buffer.from(ensureSigningKey(options())).toString('hex'),
    ];
    expect(second).toEqual(first);
  });

  test.each(['local-token', 'signing-key'])('refuses a %s that others may read', (file) => {
    ensureToken('localToken', options());
    ensureSigningKey(options());
    chmodSync(join(directory, file), 0o640);
    const read = () =>
      file === 'signing-key' ? ensureSigningKey(options()) : ensureToken('localToken', options());
    expect(read).toThrow(expect.objectContaining({ code: 'LONGCALL_KEY_FILE_UNSAFE' }));
    expect(read).toThrow(/0640/);
  });

  test.each([
    ['an empty token', 'local-token', ''],
    ['a short token', 'local-token', 'hunter2'],
    ['a token of two lines', 'local-token', `${'a'.repeat(43)}\n${'b'.repeat(43)}\n`],
    ['a key that is too short', 'signing-key', 'x'.repeat(31)],
    ['a key that is too long', 'signing-key', 'x'.repeat(33)],
  ])('refuses %s and leaves it as it is', (_, file, content) => {
    writePrivateFile(join(directory, file), content);
    const read = () =>
      file === 'signing-key' ? ensureSigningKey(options()) : ensureToken('localToken', options());
    expect(read).toThrow(expect.objectContaining({ code: 'LONGCALL_DATA_UNUSABLE' }));
    expect(readFileSync(join(directory, file), 'utf8')).toBe(content);
  });

  test('a person may put a token of their own in place, with or without a line end', () => {
    const own = 'my-own-token-that-is-long-enough-0123456789';
    writePrivateFile(join(directory, 'local-token'), own);
    expect(ensureToken('localToken', options())).toBe(own);
  });
});

describe('private files', () => {
  test('are judged by the file behind a link', () => {
    const target = join(directory, 'target');
    writeFileSync(target, 'secret', { mode: 0o644 });
    symlinkSync(target, join(directory, 'link'));
    expect(() => readPrivateFile(join(directory, 'link'))).toThrow(
      expect.objectContaining({ code: 'LONGCALL_KEY_FILE_UNSAFE' }),
    );
  });

  test('what is not there is nothing; what cannot be read says so', () => {
    expect(readPrivateFile(join(directory, 'absent'))).toBeUndefined();
    writeFileSync(join(directory, 'plain'), '');
    expect(() => readPrivateFile(join(directory, 'plain', 'x'))).toThrow(
      expect.objectContaining({ code: 'LONGCALL_DATA_UNUSABLE' }),
    );
  });

  test('are replaced in one step, leaving no draft', () => {
    const path = join(directory, 'file');
    writePrivateFile(path, 'old');
    writePrivateFile(path, 'new');
    expect(readPrivateFile(path)?.toString()).toBe('new');
    expect(existsSync(`${path}.new`)).toBe(false);
  });
});
