import type { Clock } from '../../kernel/clock.ts';
import { crashPoint } from '../../kernel/crash-point.ts';
import type { JournalFact } from '../../stores/journal.ts';
import type { JobJournal, StopReason } from '../job.ts';
import { stopReasonOf } from '../stop.ts';
import { createBell, quiet, type Bell } from './bell.ts';
import type { BegunFact, Deed } from './deed.ts';
import { createHistory, type History, type Mismatch } from './history.ts';
import { createPursuits, type DoneDeed, type Pursuits } from './pursuits.ts';
import { createRecorder, Departed, endedFact, type Recorder } from './recorder.ts';
import { RunStopped } from './run-stopped.ts';
import { StepRefused } from './step-refused.ts';

/**
 * How long a handler may take to ask again for what it asked for before, while it waits for something that comes later:
 * one that has changed may wait for ever.
 */
const REPLAY_PATIENCE_MS = 60_000;

/** So often a handler may ask for what cannot be named before its run ends by it: one that tries again would do so for ever. */
const MISTAKES_MAX = 1_000;

/** How a run of a handler came to its end. */
export type Ending =
  | Returned
  | { readonly kind: 'parked' }
  | { readonly kind: 'mismatch'; readonly mismatch: Mismatch }
  /** Fenced out, or the process is leaving: it is not for this run to say how the call ends. */
  | { readonly kind: 'departed' };

type Returned =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly thrown: unknown };

export interface ConductorOptions {
  readonly facts: readonly JournalFact[];
  readonly journal: Pick<JobJournal, 'append' | 'park' | 'now' | 'watch'>;
  readonly clock: Clock;
  /** Aborted with a StopReason. */
  readonly signal: AbortSignal;
  /** Hears why a receipt that came after the run was over could not be kept. */
  readonly onLateFailure: (thrown: unknown) => void;
}

/** Plays one attempt of a handler against its history. */
export interface Conductor {
  /** Something that the handler asks for; in the order of the calls. */
  take(deed: Deed): void;
  /**
   * Something that the handler asks for and that cannot be, by its name alone. It hears so in its turn, never at once: a
   * handler that catches it and tries again must not keep the process from everything else.
   */
  refuse(mistake: Mistake): void;
  /** Whether the handler is still on ground that an earlier attempt has covered. */
  replaying(): boolean;
  /** Calls the handler, once. Rejects where a deed ends the whole run, and where the journal fails for good. */
  run(handler: () => unknown): Promise<Ending>;
}

export interface Mistake {
  readonly why: Error;
  readonly refuse: (why: Error) => void;
}

interface Play {
  readonly options: ConductorOptions;
  readonly history: History;
  readonly pursuits: Pursuits;
  readonly recorder: Recorder;
  readonly bell: Bell;
  /** What the handler has asked for and was not looked at yet. */
  readonly calls: Deed[];
  /** The same of what cannot be; no fact of the journal, since a later attempt refuses it by itself. */
  readonly mistakes: Mistake[];
  mistakesHeard: number;
  /** Every recorded fact was reproduced once: what is open is pursued from here on. */
  live: boolean;
  returned?: Returned;
}

const HALTING: readonly StopReason[] = ['shutdown', 'lease_lost'];
const DEPARTED: Ending = { kind: 'departed' };

export function createConductor(options: ConductorOptions): Conductor {
  const play = setUp(options);
  const { history, pursuits, bell, calls, mistakes } = play;
  let over = false;
  return {
    take(deed) {
      if (over) return; // what is asked of a run that is over never comes
      calls.push(deed);
      bell.ring();
    },
    refuse(mistake) {
      if (over) return;
      mistakes.push(mistake);
      bell.ring();
    },
    replaying: () => history.next() !== undefined,
    async run(handler) {
      const { journal, signal } = options;
      const unwatch = journal.watch(pursuits.lookAgain);
      signal.addEventListener('abort', bell.ring);
      begin(play, handler);
      try {
        return await conduct(play);
      } finally {
        over = true;
        unwatch();
        signal.removeEventListener('abort', bell.ring);
        pursuits.close();
        calls.length = 0;
        mistakes.length = 0;
      }
    },
  };
}

function setUp(options: ConductorOptions): Play {
  const { journal, onLateFailure } = options;
  const history = createHistory(options.facts);
  const bell = createBell();
  const late = (done: DoneDeed): void => {
    const { deed, begun } = done.open;
    const written = deed.end?.(endedFact(history.end(), done), done.end, begun);
    void written?.catch(onLateFailure);
  };
  const pursuits = createPursuits({ ring: bell.ring, late });
  const recorder = createRecorder({ journal, history, pursuits });
  const asked = { calls: [], mistakes: [], mistakesHeard: 0 };
  return { options, history, pursuits, recorder, bell, ...asked, live: false };
}

/** Whatever the handler does, there is an end, or the run's limit. */
function begin(play: Play, handler: () => unknown): void {
  const end = (returned: Returned): void => {
    play.returned = returned;
    play.bell.ring();
  };
  void Promise.resolve()
    .then(handler)
    .then(
      (value) => end({ kind: 'returned', value }),
      (thrown: unknown) => end({ kind: 'threw', thrown }),
    );
}

/**
 * One thing at a time: a fact is handed to the handler, which then runs until it can go no further, and what it has
 * asked for meanwhile comes next. So the order of everything follows from the facts alone (decision 18).
 */
async function conduct(play: Play): Promise<Ending> {
  try {
    for (;;) {
      await quiet();
      const ending = await move(play);
      if (ending) return ending;
    }
  } catch (thrown) {
    if (thrown instanceof Departed) return DEPARTED;
    await drainEffects(play);
    throw thrown;
  }
}

function move(play: Play): Promise<Ending | undefined> {
  const stop = stopReasonOf(play.options.signal);
  if (play.returned) return finish(play, play.returned);
  if (stop && HALTING.includes(stop)) return halt(play);
  if (play.mistakes.length > 0) return refuseAll(play, stop);
  const fact = play.history.next();
  if (fact?.type === 'begun') return reproduce(play, fact);
  return fact ? deliver(play) : goOn(play, stop);
}

/** At the same place in each attempt: before anything else happens to the handler. */
async function refuseAll(play: Play, stop: StopReason | undefined): Promise<undefined> {
  const { mistakes, recorder } = play;
  if (stop) await recorder.mayGoOn();
  for (const { why, refuse } of mistakes.splice(0)) {
    play.mistakesHeard += 1;
    if (play.mistakesHeard > MISTAKES_MAX) throw why;
    refuse(why);
  }
}

async function deliver({ history }: Play): Promise<undefined> {
  const fact = history.next();
  if (fact?.type !== 'ended') return;
  const { deed, begun } = history.close(fact);
  await deed.deliver(fact, begun);
}

async function reproduce(play: Play, fact: BegunFact): Promise<Ending | undefined> {
  const { history, calls } = play;
  const deed = calls.shift();
  if (deed) {
    const differs = history.reproduce(deed);
    return differs && { kind: 'mismatch', mismatch: differs };
  }
  const patienceMs = history.open().size > 0 ? REPLAY_PATIENCE_MS : undefined;
  return (await rungWithin(play, patienceMs)) === 'rung' ? undefined : leftOut(fact);
}

const leftOut = (fact: BegunFact): Ending => ({
  kind: 'mismatch',
  mismatch: { position: fact.position, expected: fact, found: undefined },
});

/** Beyond what is recorded: begins, writes what has ended, sleeps, or waits for one of these. */
async function goOn(play: Play, stop: StopReason | undefined): Promise<Ending | undefined> {
  const { pursuits, recorder, calls } = play;
  goLive(play);
  if (stop) pursuits.giveUpWaits(({ deed }) => deed.refuse(new RunStopped(stop)));
  if (calls.length > 0) {
    await recorder.begin(calls, stop);
    return undefined;
  }
  const done = await pursuits.takeDone();
  if (done.length === 0) return (await park(play)) ?? untilSomethingHappens(play);
  await recorder.end(done);
  return undefined;
}

function goLive(play: Play): void {
  if (play.live) return;
  play.live = true;
  for (const [position, open] of play.history.open()) play.pursuits.start(position, open);
}

/** Goes to sleep where nothing of this run is under way but waits. */
async function park({ pursuits, calls, options }: Play): Promise<Ending | undefined> {
  const wake = pursuits.wake();
  if (!wake || pursuits.working() > 0 || calls.length > 0) return undefined;
  if (!(await options.journal.park(wake))) throw new Departed();
  crashPoint('parked');
  return { kind: 'parked' };
}

async function untilSomethingHappens(play: Play): Promise<undefined> {
  const { pursuits, options } = play;
  const at = pursuits.wake()?.at;
  const withinMs = at === undefined ? undefined : Math.max(0, at - options.journal.now());
  if ((await rungWithin(play, withinMs)) === 'elapsed') pursuits.lookAgain();
}

async function rungWithin(
  { bell, options }: Play,
  ms: number | undefined,
): Promise<'rung' | 'elapsed'> {
  if (ms === undefined) {
    await bell.rung();
    return 'rung';
  }
  let end: 'rung' | 'elapsed' = 'rung';
  const timer = options.clock.after(ms, () => {
    end = 'elapsed';
    bell.ring();
  });
  await bell.rung();
  timer.cancel();
  return end;
}

/** What was sent is waited for, whatever the handler made of it: nobody else would hear of it. */
async function drainEffects({ pursuits, recorder, bell }: Play): Promise<void> {
  for (;;) {
    const done = await pursuits.takeDone();
    await recorder.end(done.filter(({ open }) => open.deed.kind === 'effect'));
    if (pursuits.working('effect') === 0) return;
    await bell.rung();
  }
}

/**
 * Leaving: what is under way may come to its end and is remembered, except where it broke off, since that is our own
 * doing. Nothing is handed over any more and nothing new begins; the next attempt goes on from here.
 */
async function halt(play: Play): Promise<Ending | undefined> {
  const { pursuits, recorder, history, calls, mistakes, bell } = play;
  const done = await pursuits.takeDone();
  await recorder.end(done.filter(({ end }) => end.error === undefined));
  const isAsking = calls.length > 0 || mistakes.length > 0;
  const handlerWaits = history.open().size > 0 || history.next() !== undefined || isAsking;
  if (pursuits.working() === 0 && handlerWaits) return DEPARTED;
  await bell.rung();
  return undefined;
}

/** The handler has come to its end: it must have asked for everything that it asked for before. */
async function finish(play: Play, returned: Returned): Promise<Ending> {
  const { history, calls, options } = play;
  for (let fact = history.next(); fact && !options.signal.aborted; fact = history.next()) {
    if (fact.type === 'ended') {
      history.close(fact); // it did not wait for this one
      continue;
    }
    const deed = calls.shift();
    if (!deed) return leftOut(fact);
    const differs = history.reproduce(deed);
    if (differs) return { kind: 'mismatch', mismatch: differs };
  }
  await drainEffects(play);
  const unsent = calls.find(({ kind }) => kind === 'effect');
  if (!unsent || returned.kind === 'threw') return returned;
  const thrown = new StepRefused(
    unsent.name,
    'was not sent: the handler returned without awaiting it',
  );
  return { kind: 'threw', thrown };
}
