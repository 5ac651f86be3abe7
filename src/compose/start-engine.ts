import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEngineRecord } from '../background/engine-record.ts';
import { sleep, type Clock } from '../kernel/clock.ts';
import { ERROR_CATALOGUE, LongcallError, type ErrorCode } from '../kernel/errors.ts';
import { isJsonObject, objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import { claimStart, inspectDataLock, lockedError } from '../stores/sqlite/data-lock.ts';
import { LOG_FILE } from './process-log.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));
const PRIVATE_MODE = 0o600;
/** How long the right to start is kept for a process that says neither that it is up nor that it ends. */
const UP_MS_MAX = 30_000;
const LOOK_MS = 25;
const LAST_WORDS_BYTES = 16 * 1024;

/** How an engine of a data directory is started. */
export interface EngineStart {
  readonly data: string;
  /** What names the same configuration again: `--data …`, `--config …`. */
  readonly args: readonly string[];
  /** Where the configuration is looked for. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/**
 * Starts the background engine unless somebody else is about to, and returns when it is worth looking again. Throws what
 * kept it from coming up, and LONGCALL_DATA_LOCKED where the directory is held by a process that takes in no windows.
 */
export async function startEngine(start: EngineStart): Promise<void> {
  const giveUpRight = claimStart(start.data);
  if (!giveUpRight) return;
  try {
    const { held, holder } = inspectDataLock(start.data);
    if (held && holder === 'alone') throw withoutWindows(start.data);
    if (!held) await launch(start);
  } finally {
    giveUpRight();
  }
}

function withoutWindows(data: string): LongcallError {
  const { message, data: facts } = lockedError(data);
  return new LongcallError('LONGCALL_DATA_LOCKED', `${message}, which takes in no other window`, {
    hint: 'end that process, or use another data directory',
    data: facts,
  });
}

/** Until the process has said where it listens, or has ended. */
async function launch(start: EngineStart): Promise<void> {
  const { data, clock } = start;
  const log = join(data, LOG_FILE);
  const saidBefore = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const child = spawnEngine(start, log);
  let ended: number | string | undefined;
  child.once('exit', (code, signal) => (ended = code ?? signal ?? 'nothing'));
  child.once('error', (error) => (ended = messageOf(error)));
  const deadline = clock.monotonic() + UP_MS_MAX;
  while (ended === undefined && clock.monotonic() < deadline) {
    if (readEngineRecord(data)?.pid === child.pid) return;
    await sleep(clock, LOOK_MS);
  }
  if (ended !== undefined && ended !== 0) throwLastWords(log, { saidBefore, ended });
}

/** A session and process group of its own, with no stream of ours: what ends us must not reach it. */
function spawnEngine({ args, cwd, env }: EngineStart, log: string): ChildProcess {
  const out = openSync(log, 'a', PRIVATE_MODE);
  try {
    const child = spawn(process.execPath, [LAUNCHER, 'engine', 'run', ...args], {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', out],
    });
    child.unref();
    return child;
  } finally {
    closeSync(out);
  }
}

interface LastWords {
  readonly saidBefore: number;
  readonly ended: number | string;
}

/** What it said before it ended is the reason; that another one was faster is none. */
function throwLastWords(log: string, { saidBefore, ended }: LastWords): void {
  const error = lastError(readFrom(log, saidBefore));
  const code = stringAt(error, 'code') ?? '';
  if (code === 'LONGCALL_DATA_LOCKED') return;
  const known: ErrorCode =
    code in ERROR_CATALOGUE ? (code as ErrorCode) : 'LONGCALL_ENGINE_UNREACHABLE';
  const hint = stringAt(error, 'hint') ?? `its log is ${log}`;
  throw new LongcallError(
    known,
    stringAt(error, 'message') ?? `the background engine ended with ${ended} before it was up`,
    { hint },
  );
}

function lastError(text: string): JsonObject | undefined {
  for (const line of text.split('\n').toReversed()) {
    if (!line.startsWith('{"error":')) continue;
    try {
      const parsed: unknown = JSON.parse(line);
      if (isJsonObject(parsed)) return objectAt(parsed, 'error');
    } catch {
      continue; // a line that another one broke into
    }
  }
  return undefined;
}

function readFrom(path: string, offset: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const from = Math.max(offset > size ? 0 : offset, size - LAST_WORDS_BYTES);
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.max(0, size - from));
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
