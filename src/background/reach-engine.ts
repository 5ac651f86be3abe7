import type { Socket } from 'node:net';
import { readEngineSecret } from '../identity/data-secrets.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { formatDuration } from '../kernel/durations.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import { askEngine, type EngineAnswer } from './engine-client.ts';
import { readEngineRecord, type EngineRecord } from './engine-record.ts';
import type { Purpose } from './handshake.ts';

/** How long an engine may take to come up on a machine that has other work. */
const UP_MS_MAX = 60_000;
const LOOK_MS = 40;

/** One data directory, and who asks for its engine. */
export interface EngineSeeker {
  readonly data: string;
  /** The version of the package. */
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
}

export interface EngineRequest {
  readonly purpose: Purpose;
  readonly body: JsonObject;
}

/** Asks whoever serves the data directory; `nobody` where none does. Throws as `askEngine` does. */
export async function askIfThere(
  { data, version, clock, random }: EngineSeeker,
  request: EngineRequest,
): Promise<EngineAnswer & { readonly record?: EngineRecord }> {
  const record = readEngineRecord(data);
  const secret = record && readEngineSecret(data);
  if (!record || !secret) return { kind: 'nobody' };
  const credentials = { secret, version, random };
  return { ...(await askEngine({ record, credentials, clock, ...request })), record };
}

export interface ReachedEngine {
  readonly socket: Socket;
  readonly body: JsonObject;
  readonly record: EngineRecord;
}

export interface ReachOptions extends EngineSeeker {
  /** What the window brings. */
  readonly body: JsonObject;
  /**
   * Nobody answers: starts an engine unless somebody else is about to. Rejects where none can be had, with the reason.
   */
  start(): Promise<void>;
  /** How long to look for one, in ms; by default as long as one may take to come up. */
  readonly withinMs?: number;
}

/**
 * The engine of a data directory, started where none runs. However many ask at once, the lock of the directory decides
 * which one it is, and all others find it. Throws what keeps it from coming up, and LONGCALL_ENGINE_UNREACHABLE where
 * it is not up in time.
 */
export async function reachEngine(options: ReachOptions): Promise<ReachedEngine> {
  const { data, clock, random, body, start, withinMs = UP_MS_MAX } = options;
  const deadline = clock.monotonic() + withinMs;
  while (clock.monotonic() < deadline) {
    const answer = await askIfThere(options, { purpose: 'serve', body });
    if (answer.kind === 'yes' && answer.record) return { ...answer, record: answer.record };
    if (answer.kind === 'no' && !answer.again) throw answer.error;
    if (answer.kind === 'nobody') await start();
    await sleep(clock, LOOK_MS * (0.5 + random.fraction()));
  }
  throw new LongcallError(
    'LONGCALL_ENGINE_UNREACHABLE',
    `no engine of ${data} came up within ${formatDuration(withinMs)}`,
    { hint: 'longcall.log in that directory says why; `--no-engine` does without' },
  );
}
