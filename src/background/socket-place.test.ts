import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  checkSocketPath,
  closeSocketToOthers,
  prepareSocketPath,
  socketPathFor,
} from './socket-place.ts';

let folder = '';
let server: Server | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'longcall-socket-')));
});
afterEach(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listenAt(path: string): Promise<void> {
  prepareSocketPath(path);
  const listening = createServer();
  server = listening;
  await new Promise<void>((resolve) => listening.listen(path, resolve));
  closeSocketToOthers(path);
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

describe.skipIf(process.platform === 'win32')('the place of the socket', () => {
  test('is a folder of the data directory, closed to others, as is the socket', async () => {
    const path = socketPathFor(folder);
    expect(dirname(dirname(path))).toBe(folder);
    const umask = process.umask(0);
    try {
      await listenAt(path);
    } finally {
      process.umask(umask);
    }
    expect([modeOf(dirname(path)), modeOf(path)]).toEqual([0o700, 0o600]);
    expect(() => checkSocketPath(path)).not.toThrow();
  });

  test('has a short name where that of the directory is too long for the system', async () => {
    const deep = join(folder, 'x'.repeat(60), 'y'.repeat(60));
    mkdirSync(deep, { recursive: true });
    const path = socketPathFor(deep);
    expect(Buffer.byteLength(path)).toBeLessThan(104);
    expect(path).toBe(socketPathFor(join(deep, '..', 'y'.repeat(60))));
    expect(path).not.toBe(socketPathFor(join(deep, '..')));
    await listenAt(path);
    expect(() => checkSocketPath(path)).not.toThrow();
  });

  test('is not taken from whoever else could stand behind it', async () => {
    const path = socketPathFor(folder);
    await listenAt(path);
    chmodSync(path, 0o666);
    expect(() => checkSocketPath(path)).toThrow('has mode 0666: others may reach it');
    chmodSync(path, 0o600);
    chmodSync(dirname(path), 0o755);
    expect(() => checkSocketPath(path)).toThrow(
      expect.objectContaining({ code: 'LONGCALL_SOCKET_UNSAFE' }),
    );
    expect(() => prepareSocketPath(path)).toThrow('has mode 0755');
  });

  test('is no file that only has its name', () => {
    const path = socketPathFor(folder);
    prepareSocketPath(path);
    writeFileSync(path, '', { mode: 0o600 });
    expect(() => checkSocketPath(path)).toThrow('is no socket');
  });
});
