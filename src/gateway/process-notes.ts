import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { signalGroup } from '../requestor/child-process.ts';
import { sleep, systemClock, type Clock } from '../kernel/clock.ts';
import { isJsonObject } from '../kernel/json.ts';

/** A child process, told apart from any later one with the same id by when it started, on which boot. */
interface NotedProcess {
  readonly pid: number;
  /** Clock ticks since boot, from /proc. */
  readonly startTime: string;
  readonly bootId: string;
}

/** Notes which child processes run, so that a later process can end what a dead one has left behind. */
export interface ProcessNotes {
  add(pid: number): void;
  remove(pid: number): void;
}

const readText = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
};

const bootId = (): string => readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';

/** Field 22 of /proc/<pid>/stat; the name in field 2 may hold spaces and brackets. */
function startTimeOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/**
 * Where there is no /proc, nothing is noted and so nothing is ever ended: a reused id must not be hit. A disk that is
 * full or gone is told to `onFailed`, and costs no upstream and no gateway; the next note that succeeds has them all.
 */
export function createProcessNotes(
  file: string | undefined,
  onFailed: (thrown: unknown) => void = () => undefined,
): ProcessNotes {
  const running = new Map<number, NotedProcess>();
  const write = (): void => {
    if (file === undefined) return;
    try {
      writeFileSync(`${file}.new`, JSON.stringify(Array.from(running.values())), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch (thrown) {
      onFailed(thrown);
    }
  };
  return {
    add(pid) {
      const startTime = startTimeOf(pid);
      if (startTime === undefined) return;
      running.set(pid, { pid, startTime, bootId: bootId() });
      write();
    },
    remove(pid) {
      if (running.delete(pid)) write();
    },
  };
}

function readNotes(file: string): readonly NotedProcess[] {
  const text = readText(file);
  if (text === undefined) return [];
  try {
    const notes: unknown = JSON.parse(text);
    return Array.isArray(notes) ? notes.filter(isNote) : [];
  } catch {
    return [];
  }
}

function isNote(value: unknown): value is NotedProcess {
  return (
    isJsonObject(value) &&
    Number.isInteger(value['pid']) &&
    Number(value['pid']) > 1 &&
    typeof value['startTime'] === 'string' &&
    typeof value['bootId'] === 'string'
  );
}

const isSame = ({ pid, startTime, bootId: boot }: NotedProcess): boolean =>
  boot === bootId() && startTimeOf(pid) === startTime && !isZombie(pid);

/** A process that has ended but was not collected by its parent: nothing is left to end. */
const isZombie = (pid: number): boolean => {
  const stat = readText(`/proc/${pid}/stat`) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
};

const TERM_MS = 2_000;
const KILL_MS = 2_000;
const LOOK_MS = 25;

async function untilGone(orphan: NotedProcess, clock: Clock, withinMs: number): Promise<boolean> {
  const deadline = clock.monotonic() + withinMs;
  while (isSame(orphan)) {
    if (clock.monotonic() >= deadline) return false;
    await sleep(clock, LOOK_MS);
  }
  return true;
}

async function endOrphan(orphan: NotedProcess, clock: Clock): Promise<void> {
  signalGroup(orphan.pid, 'SIGTERM');
  if (await untilGone(orphan, clock, TERM_MS)) return;
  signalGroup(orphan.pid, 'SIGKILL');
  await untilGone(orphan, clock, KILL_MS);
}

/**
 * Ends the child processes that a dead gateway has left running, each with what it started. Call it while holding the
 * lock that proves the death, before anything is recovered: until then they may still be working (decision 16).
 * Resolves with how many there were, when they are gone.
 */
export async function endOrphans(pidsFile: string, clock: Clock = systemClock): Promise<number> {
  const orphans = readNotes(pidsFile).filter(isSame);
  await Promise.all(orphans.map((orphan) => endOrphan(orphan, clock)));
  return orphans.length;
}
