import { createManualClock, type ManualClock } from '../../src/kernel/manual-clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { JobContext } from '../../src/runtime/steps/context.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import { createKit, tool, type HttpSide, type Kit, type KitOptions } from '../faces/face-kit.ts';
import { caller2025, caller2026, resultOf, TASKS } from '../faces/wire.ts';
import type { Caller2025, Caller2026, SseReader } from '../faces/wire.ts';
import { nextId, stream } from '../faces/wire.ts';
import { freshPath, until } from '../runtime/receiving-side.ts';

/** What the handler of the test's tool does with its context. */
export type Handler = (context: JobContext) => unknown;

/** Everything that a client can be asked by longcall. */
export const ASKABLE: JsonObject = { elicitation: { form: {}, url: {} } };
export const ASKABLE_2026: JsonObject = { ...ASKABLE, extensions: { [TASKS]: {} } };

export interface InputSite extends HttpSide {
  readonly kit: Kit;
  readonly path: string;
  readonly confirmUrl: string;
  alice2025(): Promise<Caller2025>;
  bob2025(): Promise<Caller2025>;
  readonly alice: Caller2026;
  readonly bob: Caller2026;
}

export interface InputSiteOptions extends KitOptions {
  readonly handler: Handler;
  readonly tool?: Partial<ServedTool>;
}

export const TOOL = 'works';

/** Tests poll as fast as they can; the limit for that has tests of its own. */
const EAGER = { perSecond: 1_000_000, burst: 1_000_000 };

/** A face over HTTP on a real runtime and a real SQLite file, whose one tool keeps a journal. */
export async function openSite(options: InputSiteOptions): Promise<InputSite> {
  const { handler, path = freshPath() } = options;
  const place: { confirmUrl?: string } = {};
  const kit = await createKit({
    ...options,
    path,
    face: { statusReads: EAGER, ...options.face },
    tools: [tool(TOOL, { journalled: true, ...options.tool })],
    handle: ({ context }) => handler(context),
    confirmUrl: () => place.confirmUrl,
  });
  const side = await kit.http();
  const confirmUrl = new URL('/confirm', side.url).href;
  place.confirmUrl = confirmUrl;
  const session = (token: string) => () => caller2025(side.url, token, { capabilities: ASKABLE });
  return {
    ...side,
    kit,
    path,
    confirmUrl,
    alice2025: session('alice'),
    bob2025: session('bob'),
    alice: caller2026(side.url, 'alice', ASKABLE_2026),
    bob: caller2026(side.url, 'bob', ASKABLE_2026),
  };
}

export const textResult = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });

export async function createTask2025(caller: Caller2025): Promise<string> {
  const created = resultOf(await caller.tool(TOOL, {}, { task: {} }));
  return String((created['task'] as JsonObject)['taskId']);
}

export const createTask2026 = async (caller: Caller2026): Promise<string> =>
  String(resultOf(await caller.tool(TOOL))['taskId']);

export const openResult = (caller: Caller2025, taskId: string): Promise<SseReader> =>
  stream(caller.open('tasks/result', { taskId }, { id: nextId() }));

export const getTask = async (
  caller: Pick<Caller2026, 'call'> | Pick<Caller2025, 'call'>,
  taskId: string,
): Promise<JsonObject> => resultOf(await caller.call('tasks/get', { taskId }));

/** The open questions of a task, as a client of 2026-07-28 reads them. */
export async function questionsOf(caller: Caller2026, taskId: string): Promise<JsonObject> {
  let found: JsonObject = {};
  await until(async () => {
    const task = await getTask(caller, taskId);
    found = (task['inputRequests'] ?? {}) as JsonObject;
    return task['status'] === 'input_required';
  });
  return found;
}

export interface OnlyQuestion {
  readonly key: string;
  readonly params: JsonObject;
}

/** The one open question of a task. */
export async function questionOf(caller: Caller2026, taskId: string): Promise<OnlyQuestion> {
  const [entry, ...more] = Object.entries(await questionsOf(caller, taskId));
  if (!entry || more.length > 0) throw new Error('there is not exactly one question');
  return { key: entry[0], params: (entry[1] as JsonObject)['params'] as JsonObject };
}

export const reaches = (
  caller: Pick<Caller2026, 'call'> | Pick<Caller2025, 'call'>,
  taskId: string,
  status: string,
): Promise<void> => until(async () => (await getTask(caller, taskId))['status'] === status);

export const update = (
  caller: Caller2026,
  taskId: string,
  inputResponses: JsonObject,
): ReturnType<Caller2026['call']> => caller.call('tasks/update', { taskId, inputResponses });

/** Events of a task, by type and reason. */
export async function storyOf({ kit }: InputSite, taskId: string): Promise<readonly string[]> {
  const events = await kit.side.store.events.list({ taskId, limit: 1000 });
  return events.map(({ type, reason }) => (reason === undefined ? type : `${type} ${reason}`));
}

export const manualClock = (): ManualClock => createManualClock(Date.parse('2026-12-01T09:00:00Z'));
