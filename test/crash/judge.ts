import { expect } from 'vitest';
import type { TaskDetail } from '../../src/admin/documents.ts';
import { textOf } from '../wire/steps.ts';
import type { CrashRow, Ending } from './crash-rows.ts';
import { canHoldHandle, personOf } from './front.ts';
import type { Front, FrontCall, FrontKind, View } from './front.ts';
import { PEOPLE } from './people.ts';
import { PREFIXES } from './site.ts';
import type { Site } from './site.ts';
import { until } from './until.ts';

/** One row for one caller. */
export type CrashCase = Omit<CrashRow, 'callers'> & { readonly caller: FrontKind };

/** A call that was under way when something died. */
export interface Played {
  readonly row: CrashCase;
  readonly call: FrontCall;
  /** Records that were there before it. */
  readonly before: ReadonlySet<string>;
}

/** Longer than any wait that a record may need to end: nothing is for ever `working`. */
export const BOUND_MS = 30_000;

const ORIGINS: Readonly<Record<FrontKind, string>> = {
  '2025-task': '2025-11-25',
  '2026-tasks': '2026-07-28',
  '2025-plain': 'plain',
  '2026-plain': 'plain',
};

/** Judges what is left of a call, through the clients of the gateway that runs now. */
export async function judge(site: Site, front: Front, played: Played): Promise<void> {
  const { dies, moment, effect, caller } = played.row;
  try {
    await judgeCall(site, front, played);
  } catch (error) {
    const row = `${dies} dies ${moment}, ${effect} by ${caller}`;
    throw new Error(`${row}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function judgeCall(site: Site, front: Front, played: Played): Promise<void> {
  const { row, call } = played;
  if (row.ends === 'nothing') return judgeNothing(site, front, played);

  const taskId = await idOf(site, played);
  if (row.found === 'by list') expect(await listedIds(front)).toContain(taskId);
  const record = await endOf(site, front, { played, taskId });
  const answer = await call.answer;
  expect(answer.kind, `the response to the call: ${JSON.stringify(answer)}`).toBe(row.request);
  if (row.found !== 'not') judgeView(row, await front.view(row.caller, taskId), record);
  if (answer.kind === 'error') judgeError(row, answer.error, record);
  expect(record.protocol.status['2026-07-28']).toBe(STATUS[row.ends]);
  expect(record.operation?.state ?? 'none', 'the operation').toBe(row.operation);
  expect(sendsOf(site, call), 'calls that the upstream got').toBe(row.sends);
}

const STATUS: Readonly<Record<Exclude<Ending, 'nothing'>, string>> = {
  result: 'completed',
  outcome_unknown: 'failed',
  upstream_unreachable: 'failed',
  cancelled: 'cancelled',
};

const sendsOf = ({ effects }: Site, { tag }: FrontCall): number =>
  effects.lines(tag).filter(({ event }) => event === 'start').length;

async function judgeNothing(site: Site, front: Front, played: Played): Promise<void> {
  expect((await played.call.answer).kind).toBe(played.row.request);
  expect(await newRecords(site, played)).toEqual([]);
  const operations = await site.admin().operations();
  expect(operations.filter(({ taskId }) => !played.before.has(taskId))).toEqual([]);
  expect((await listedIds(front)).filter((id) => !played.before.has(id))).toEqual([]);
  expect(sendsOf(site, played.call)).toBe(0);
}

/** The records of this caller and tool that were not there before, newest first. */
async function newRecords(site: Site, { call, before }: Played): Promise<readonly string[]> {
  const { tenant } = PEOPLE[personOf(call.kind)];
  const tasks = await site.admin().tasks();
  return tasks
    .filter(
      (task) =>
        task.tenant === tenant && task.tool === call.name && task.origin === ORIGINS[call.kind],
    )
    .map(({ id }) => id)
    .filter((id) => !before.has(id));
}

/** The id of the record: from the handle, or else as operators find it. */
async function idOf(site: Site, played: Played): Promise<string> {
  const answer = played.row.request === 'handle' ? await played.call.answer : undefined;
  if (answer?.kind === 'handle') return answer.taskId;
  const found = await until(async () => {
    const records = await newRecords(site, played);
    return records.length > 0 ? records : undefined;
  }, `the record of ${played.call.tag}`);
  expect(found, 'records of the call').toHaveLength(1);
  return found[0] ?? '';
}

async function listedIds({ session }: Front): Promise<readonly string[]> {
  const { result } = await session.request('tasks/list');
  return ((result?.['tasks'] ?? []) as { taskId: string }[]).map(({ taskId }) => taskId);
}

interface Sought {
  readonly played: Played;
  readonly taskId: string;
}

/** Waits for the end of the record; a call that asks again is answered by its owner. */
async function endOf(site: Site, front: Front, { played, taskId }: Sought): Promise<TaskDetail> {
  const { row, call } = played;
  const answer = (): Promise<unknown> =>
    canHoldHandle(row.caller) ? front.answer(row.caller, taskId, 'again') : call.reply('again');
  return until(
    async () => {
      const record = await site.admin().task(taskId);
      if (record.protocol.phase === 'ended') return record;
      // A question that is gone before the answer is there is asked again, and answered again.
      if (record.protocol.phase === 'input_required' && row.ends === 'result')
        await answer().catch(() => undefined);
      return undefined;
    },
    `the end of ${taskId} (${row.dies}, ${row.moment}, ${row.effect}, ${row.caller})`,
    BOUND_MS,
  );
}

function judgeView(row: CrashCase, view: View, record: TaskDetail): void {
  if (row.ends === 'nothing') return;
  expect(view.status, 'the status that its owner reads').toBe(STATUS[row.ends]);
  if (row.ends === 'result') expect(textOf(view.result)).not.toBe('');
  if (row.ends === 'outcome_unknown') judgeUnknown(view.error, record);
  if (row.ends === 'upstream_unreachable')
    expect(view.error).toMatchObject({ data: { reason: row.ends } });
  if (row.ends === 'cancelled') expect(view.result).toBeUndefined();
}

/** What a plain caller is told instead of a result. */
function judgeError(row: CrashCase, error: View['error'], record: TaskDetail): void {
  if (row.ends === 'outcome_unknown') judgeUnknown(error, record);
  else expect(error).toMatchObject({ data: { reason: row.ends } });
}

/** It says that nobody knows, names the operation, and says not to repeat it (decision 6). */
function judgeUnknown(error: View['error'], record: TaskDetail): void {
  expect(error).toMatchObject({
    code: -32_603,
    data: { reason: 'outcome_unknown', operationId: record.operation?.id },
  });
  expect(String(error?.['message'])).toContain('do not repeat');
}

/** The front name of a tool, served with an effect class. */
export const frontName = (row: Pick<CrashRow, 'effect'>, tool: string): string =>
  `${PREFIXES[row.effect]}${tool}`;
