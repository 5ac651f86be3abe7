import fc from 'fast-check';
import { expect } from 'vitest';
import type { ManualClock } from '../../src/kernel/manual-clock.ts';
import { expiresAt, type Outcome, type Task, type TaskPhase } from '../../src/protocol/model.ts';
import type { Store } from '../../src/stores/store.ts';
import { ALICE, callOf } from '../runtime/receiving-side.ts';
import { beginLife, FORM, TOOLS, type Life, type Sightings, type ToolName } from './world.ts';

/** What may happen next, to the task of that number where there is one. */
export type Move =
  | { readonly kind: 'create'; readonly tool: ToolName }
  | {
      readonly kind:
        'poll' | 'ask' | 'finish' | 'fail' | 'answer' | 'answer_twice' | 'answer_other';
      readonly task: number;
    }
  | { readonly kind: 'cancel'; readonly task: number; readonly how: 'at-once' | 'cooperative' }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'crash' | 'sweep' };

const task = fc.nat({ max: 2 });
const toTask = (...kinds: readonly ('poll' | 'ask' | 'finish' | 'fail')[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), task });
const answer = fc.record({
  kind: fc.constantFrom('answer' as const, 'answer_twice' as const, 'answer_other' as const),
  task,
});

export const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('create' as const),
        tool: fc.constantFrom('read' as const, 'pay' as const, 'flow' as const),
      }),
    },
    { weight: 4, arbitrary: toTask('poll', 'ask', 'finish', 'fail') },
    { weight: 5, arbitrary: answer },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('cancel' as const),
        task,
        how: fc.constantFrom('at-once' as const, 'cooperative' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('advance' as const),
        ms: fc.constantFrom(1, 1_000, 16_000, 31_000, 61_000, 400_000),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('crash' as const, 'sweep' as const) }),
    },
  ),
  { minLength: 2, maxLength: 9 },
);

/** What is known of one task, from the outside. */
interface Known {
  readonly id: string;
  readonly tool: ToolName;
  readonly taken: { readonly key: string; readonly n: number }[];
  last?: Task;
  ended?: { readonly task: Task; readonly outcome: Outcome };
}

export interface HistoryParts {
  readonly shared: Store;
  readonly clock: ManualClock;
  readonly seen: Sightings;
}

const LEGAL: Readonly<Record<TaskPhase, readonly TaskPhase[]>> = {
  working: ['working', 'input_required', 'ended'],
  input_required: ['working', 'input_required', 'ended'],
  ended: ['ended'],
};

const accepted = (n: number) =>
  ({ kind: 'result', result: { action: 'accept', content: { n } } }) as const;

/** Enough turns for everything under way; nothing here waits for a timer. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 12; turns += 1)
    await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Plays one sequence of moves against the real receiving side, and compares what is seen with what must hold. */
export async function playHistory(parts: HistoryParts, sequence: readonly Move[]): Promise<void> {
  const { shared, clock, seen } = parts;
  const known: Known[] = [];
  let life = await beginLife(parts);
  let next = 1;

  for (const move of sequence) {
    await play(move);
    await settle();
    for (const one of known) await look(one);
    expect(seen.overlaps).toBe(0);
  }
  await comeToAnEnd();

  async function play(move: Move): Promise<void> {
    switch (move.kind) {
      case 'create':
        return create(move.tool);
      case 'advance':
        return clock.advance(move.ms);
      case 'crash':
        life.die();
        life = await beginLife(parts);
        return;
      case 'sweep':
        await life.sweep();
        return;
      case 'poll':
      case 'ask':
      case 'finish':
      case 'fail':
      case 'answer':
      case 'answer_twice':
      case 'answer_other':
      case 'cancel': {
        const one = known[move.task];
        if (one) await act(life, one, move);
      }
    }
  }

  async function create(tool: ToolName): Promise<void> {
    const started = await life.receiver.start(callOf(TOOLS[tool]));
    if (started.kind !== 'started') throw new Error(`not started: ${started.kind}`);
    await life.receiver.handleGiven(started.task.id);
    known.push({ id: started.task.id, tool, taken: [] });
  }

  async function act(
    { receiver, held }: Life,
    one: Known,
    move: Exclude<Move, { readonly kind: 'create' | 'advance' | 'crash' | 'sweep' }>,
  ): Promise<void> {
    switch (move.kind) {
      case 'poll':
        await receiver.view(ALICE, one.id, true);
        return;
      case 'ask':
        void held.get(one.id)?.job.ask([{ method: 'elicitation/create', params: FORM }]);
        return;
      case 'finish':
        return held.get(one.id)?.finish('done');
      case 'fail':
        return held.get(one.id)?.fail();
      case 'cancel':
        await receiver.cancel(ALICE, one.id, move.how);
        return;
      case 'answer_other':
        await receiver.answer(ALICE, one.id, { never: accepted(0) });
        return;
      case 'answer':
      case 'answer_twice':
        await answerFirst(receiver, one, move.kind === 'answer_twice' ? 2 : 1);
    }
  }

  /** The first answer of a key wins, however many come at once (Q3). */
  async function answerFirst(receiver: Life['receiver'], one: Known, times: number): Promise<void> {
    const view = await receiver.view(ALICE, one.id, false);
    const key = view?.inputs[0]?.key;
    if (key === undefined) return;
    const values = Array.from({ length: times }, () => (next += 1));
    const answered = await Promise.all(
      values.map((n) => receiver.answer(ALICE, one.id, { [key]: accepted(n) })),
    );
    const taken = values.filter((_, at) => {
      const given = answered[at];
      return given?.kind === 'taken' && given.taken.includes(key);
    });
    expect(taken.length).toBeLessThanOrEqual(1);
    for (const n of taken) {
      expect(one.taken.map((earlier) => earlier.key)).not.toContain(key);
      one.taken.push({ key, n });
    }
  }

  /** One terminal state, time that never goes back, moves that are legal, steps that are not done twice. */
  async function look(one: Known): Promise<void> {
    const now = await shared.tasks.get('system', one.id);
    if (!now) {
      if (one.last) expect(expiresAt(one.last)).toBeLessThanOrEqual(clock.now());
      return;
    }
    const { last } = one;
    if (last) {
      expect(now.updatedAt).toBeGreaterThanOrEqual(last.updatedAt);
      expect(now.revision).toBeGreaterThanOrEqual(last.revision);
      expect(LEGAL[last.phase]).toContain(now.phase);
    }
    one.last = now;
    const attempts = await shared.attempts.listOf(one.id);
    const open = attempts.filter(({ state }) => state !== 'ended');
    expect(open.length).toBeLessThanOrEqual(1);
    if (now.phase === 'ended') expect(open).toEqual([]);
    else expect(open).toHaveLength(1);
    if (now.phase === 'ended') await lookAtEnd(one, now);
  }

  async function lookAtEnd(one: Known, now: Task): Promise<void> {
    const outcome = await shared.tasks.outcome('system', one.id);
    if (!outcome) return;
    if (one.ended) {
      expect(now).toEqual(one.ended.task);
      expect(outcome).toEqual(one.ended.outcome);
    } else if (one.tool === 'flow' && outcome.kind === 'result' && now.ending === 'result') {
      expectAnswersKept(one, outcome);
    }
    one.ended = { task: now, outcome };
  }

  /** What the handler says it was answered is what was taken, in the order of its questions: no answer got lost. */
  function expectAnswersKept(one: Known, outcome: Extract<Outcome, { kind: 'result' }>): void {
    const [block] = outcome.result['content'] as readonly { readonly text: string }[];
    const said = JSON.parse(block?.text ?? '[]') as readonly { readonly content: { n: number } }[];
    expect(said.map(({ content }) => content.n)).toEqual(one.taken.map(({ n }) => n));
    for (const step of ['first', 'second', 'third'])
      expect(seen.steps.get(`${one.id} ${step}`)).toBeGreaterThanOrEqual(1);
  }

  /** However it went on: in the end nothing is left running, waiting or queued. */
  async function comeToAnEnd(): Promise<void> {
    for (let round = 0; round < 40; round += 1) {
      const open = await shared.tasks.list('system', {
        phase: 'open',
        withHandle: false,
        limit: 1,
      });
      if (open.length === 0) break;
      clock.advance(16_000);
      await settle();
      await life.sweep();
      await settle();
    }
    for (const one of known) {
      await look(one);
      const left = await shared.tasks.get('system', one.id);
      expect(left?.phase ?? 'gone', `${one.tool} came to no end`).toMatch(/^(?:ended|gone)$/);
    }
    expect(await shared.attempts.queuedCount()).toBe(0);
    expect(life.held.size).toBe(0);
    life.die();
    clock.advance(2 * 86_400_000);
    while ((await shared.tasks.sweepExpired(200)) > 0);
  }
}
