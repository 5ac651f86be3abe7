import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, type Stats } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { LongcallError } from '../kernel/errors.ts';

/** What fits into an address of a socket, without its last zero: 108 bytes on Linux, 104 on macOS and the BSDs. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;
const GROUP_AND_OTHERS = 0o077;
const FOLDER_MODE = 0o700;
const SOCKET_MODE = 0o600;
const IS_WINDOWS = process.platform === 'win32';

/**
 * Where the engine of a data directory listens: a socket in a folder of the directory. Where that name is too long for
 * the system, a short one made from it in the user's own folder below the temporary one. On Windows a named pipe.
 */
export function socketPathFor(data: string): string {
  const name = createHash('sha256').update(realpathSync(data)).digest('hex').slice(0, 16);
  if (IS_WINDOWS) return `\\\\.\\pipe\\longcall-${name}`;
  const candidates = [
    join(data, 'run', 'engine.sock'),
    join(tmpdir(), `longcall-${userInfo().uid}`, `${name}.sock`),
  ];
  const fitting = candidates.find((path) => Buffer.byteLength(path) <= PATH_BYTES_MAX);
  if (fitting !== undefined) return fitting;
  throw new LongcallError(
    'LONGCALL_DATA_UNUSABLE',
    `no name for a socket of ${data} has at most ${PATH_BYTES_MAX} bytes`,
    { hint: 'name a data directory with a shorter path, or set TMPDIR to a shorter one' },
  );
}

/** Makes the folder (0700) and the place in it free. The caller owns the data directory, so what is there is stale. */
export function prepareSocketPath(path: string): void {
  if (IS_WINDOWS) return;
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  checkFolder(dirname(path));
  rmSync(path, { force: true });
}

/** After it is there; the folder has kept others out until now. */
export function closeSocketToOthers(path: string): void {
  if (!IS_WINDOWS) chmodSync(path, SOCKET_MODE);
}

export function removeSocket(path: string): void {
  if (!IS_WINDOWS) rmSync(path, { force: true });
}

/**
 * Throws LONGCALL_SOCKET_UNSAFE where somebody else could stand behind the socket, or reach it: folder and socket must
 * be this user's and closed to all others. Nothing is said about a socket that is not there. Node.js cannot ask the
 * system who is at the other end, so this, and the proof that both ends give in the handshake, stand in for it.
 */
export function checkSocketPath(path: string): void {
  if (IS_WINDOWS) return;
  checkFolder(dirname(path));
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) throw unsafe(path, 'is no socket');
  checkOwnAndClosed(path, stats);
}

function checkFolder(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw unsafe(folder, 'is no folder of its own');
  checkOwnAndClosed(folder, stats);
}

function checkOwnAndClosed(path: string, { uid, mode }: Stats): void {
  const own = process.geteuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw unsafe(path, `belongs to user ${uid}`);
  if ((mode & GROUP_AND_OTHERS) !== 0) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0');
    throw unsafe(path, `has mode ${octal}: others may reach it`);
  }
}

const unsafe = (path: string, problem: string): LongcallError =>
  new LongcallError('LONGCALL_SOCKET_UNSAFE', `${path} ${problem}`, {
    hint: 'end what made it, remove it, and start again',
  });
