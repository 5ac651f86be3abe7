import { connect, type Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { ERROR_CATALOGUE, LongcallError, type ErrorCode } from '../kernel/errors.ts';
import { stringAt, type JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import type { EngineRecord } from './engine-record.ts';
import { HandshakeRefused, requestOf, type Credentials, type Purpose } from './handshake.ts';
import { checkSocketPath } from './socket-place.ts';

/** How long an engine may take to answer; it is on this machine, and may be busy. */
const ANSWER_MS = 10_000;

export interface AskEngine {
  readonly record: EngineRecord;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly purpose: Purpose;
  readonly body: JsonObject;
}

/** What came of it. */
export type EngineAnswer =
  | {
      readonly kind: 'yes';
      readonly body: JsonObject;
      readonly socket: Socket;
      readonly version: string;
    }
  /** It said no, and why. `again`: ask again in a moment. */
  | { readonly kind: 'no'; readonly error: LongcallError; readonly again: boolean }
  /** Nobody listens there: what the record tells of is dead, or is about to end. */
  | { readonly kind: 'nobody' };

/**
 * Asks the engine that a record tells of. Throws LONGCALL_SOCKET_UNSAFE where somebody else could stand behind its
 * socket, LONGCALL_ENGINE_VERSION where it is of a version that this one cannot talk to, LONGCALL_ENGINE_UNREACHABLE
 * where it does not answer, or is not the engine of this data directory.
 */
export async function askEngine(ask: AskEngine): Promise<EngineAnswer> {
  const { record, credentials, clock, purpose, body } = ask;
  checkSocketPath(record.socket);
  const socket = await open(record.socket);
  if (!socket) return { kind: 'nobody' };
  let isLate = false;
  const late = clock.after(ANSWER_MS, () => {
    isLate = true;
    socket.destroy();
  });
  try {
    const { engine, reply } = await requestOf(socket, credentials, { purpose, body });
    if (reply['ok'] === true) return { kind: 'yes', body: reply, socket, version: engine.version };
    socket.destroy();
    return { kind: 'no', error: refusalIn(reply), again: reply['again'] === true };
  } catch (thrown) {
    socket.destroy();
    if (thrown instanceof HandshakeRefused) throw notOurs(record, thrown);
    if (isLate) throw silent(record);
    return { kind: 'nobody' }; // it went away in the middle
  } finally {
    late.cancel();
  }
}

const NOBODY: readonly (string | undefined)[] = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'];

function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('connect', () => {
      socket.on('error', () => undefined); // it shows as the close
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (NOBODY.includes(error.code)) resolve(undefined);
      else reject(unreachable(`${path}: ${messageOf(error)}`));
    });
  });
}

function refusalIn(reply: JsonObject): LongcallError {
  const said = stringAt(reply, 'code') ?? '';
  const code: ErrorCode = said in ERROR_CATALOGUE ? (said as ErrorCode) : 'LONGCALL_INTERNAL';
  const hint = stringAt(reply, 'hint');
  return new LongcallError(
    code,
    stringAt(reply, 'message') ?? 'the engine refused and did not say why',
    hint === undefined ? {} : { hint },
  );
}

function notOurs({ pid }: EngineRecord, refused: HandshakeRefused): LongcallError {
  if (!refused.otherLink) return unreachable(`process ${pid}: ${refused.message}`);
  const { version } = refused.otherLink;
  return new LongcallError(
    'LONGCALL_ENGINE_VERSION',
    `the background engine (process ${pid}) is of longcall ${version}, which this version cannot talk to`,
    { hint: `end process ${pid} when its work is done, and start again`, data: { pid, version } },
  );
}

const silent = ({ pid }: EngineRecord): LongcallError =>
  unreachable(`process ${pid} does not answer`);

const unreachable = (problem: string): LongcallError =>
  new LongcallError(
    'LONGCALL_ENGINE_UNREACHABLE',
    `the background engine cannot be reached: ${problem}`,
    { hint: '`longcall engine status` and longcall.log in the data directory say more' },
  );
