import { crashPoint } from '../../kernel/crash-point.ts';
import type { Journalled } from '../../stores/journal.ts';
import type { JobJournal, StopReason } from '../job.ts';
import { isRefusal, type BegunFact, type Deed, type EndedFact, type Plan } from './deed.ts';
import type { History } from './history.ts';
import type { DoneDeed, Pursuits } from './pursuits.ts';
import { RunStopped } from './run-stopped.ts';
import { errorToKeep } from './step-error.ts';

/** Unwinds a run that may write nothing more. */
export class Departed extends Error {
  override readonly name = 'Departed';
}

/** Writes what is new: durable first, then in the history, then done. Rejects with Departed where the run is fenced out. */
export interface Recorder {
  /**
   * Begins what is wanted, in its order, and takes it off the list. Those that are nothing but a fact share a
   * transaction; after any other one the handler gets its turn.
   */
  begin(calls: Deed[], stop: StopReason | undefined): Promise<void>;
  /**
   * Whether a run that was told to stop is still heard. What it is refused is written nowhere, so that nothing else would
   * end a handler that catches the refusal and asks again.
   */
  mayGoOn(): Promise<void>;
  /** Writes ends in the order in which they came. */
  end(done: readonly DoneDeed[]): Promise<void>;
}

export interface RecorderOptions {
  readonly journal: Pick<JobJournal, 'append'>;
  readonly history: History;
  readonly pursuits: Pursuits;
}

/** A deed that is begun by its fact alone. */
interface Plain {
  readonly deed: Deed;
  readonly plan: Plan;
}

/** What a handler may still begin when it was told to stop: to clean up, but neither to send nor to wait. */
const isStillAllowed = ({ kind }: Deed): boolean => kind === 'step' || kind === 'secret';

/** What the fence refused, or another run has written meanwhile, ends this run. */
function insist(written: Journalled): void {
  if (written !== 'written') throw new Departed();
}

/** Nothing is a valid thing to append for a run that is not fenced out. */
const mayGoOn = async (journal: RecorderOptions['journal']): Promise<void> =>
  insist(await journal.append([]));

async function refuseStopped(
  journal: RecorderOptions['journal'],
  deed: Deed,
  stop: StopReason = 'cancelled',
): Promise<void> {
  await mayGoOn(journal);
  deed.refuse(new RunStopped(stop));
}

export function createRecorder({ journal, history, pursuits }: RecorderOptions): Recorder {
  const add = (deed: Deed, begun: BegunFact): void => {
    history.addBegun(deed, begun);
    pursuits.start(begun.position, { deed, begun, replayed: false });
  };
  const beginPlain = async (plain: readonly Plain[]): Promise<void> => {
    if (plain.length === 0) return;
    const first = history.end();
    const begun = plain.map(({ deed, plan }, at) => ({
      deed,
      fact: begunFact(first + at, deed, plan),
    }));
    insist(await journal.append(begun.map(({ fact }) => fact)));
    for (const { deed, fact } of begun) add(deed, fact);
  };
  const beginOne = async (deed: Deed, plan: Plan): Promise<void> => {
    const fact = begunFact(history.end(), deed, plan);
    insist(await (deed.begin?.(fact) ?? journal.append([fact])));
    add(deed, fact);
  };
  const refuse = async (deed: Deed, why: Error): Promise<void> => {
    const begun = begunFact(history.end(), deed, {});
    const { position: of } = begun;
    const ended: EndedFact = { type: 'ended', position: of + 1, of, error: errorToKeep(why) };
    insist(await journal.append([begun, ended]));
    history.addBegun(deed, begun);
    history.addEnded(ended);
  };
  const endPlain = async (facts: readonly EndedFact[]): Promise<void> => {
    if (facts.length === 0) return;
    insist(await journal.append(facts));
    crashPoint('step-ended');
    for (const fact of facts) history.addEnded(fact);
  };

  return {
    mayGoOn: () => mayGoOn(journal),
    async begin(calls, stop) {
      const plain: Plain[] = [];
      for (let deed = calls[0]; deed; deed = calls[0]) {
        const plan = stop && !isStillAllowed(deed) ? undefined : await deed.plan();
        calls.shift();
        if (plan && !isRefusal(plan) && !deed.begin) {
          plain.push({ deed, plan });
          continue;
        }
        await beginPlain(plain);
        if (!plan) return refuseStopped(journal, deed, stop);
        return isRefusal(plan) ? refuse(deed, plan.refusal) : beginOne(deed, plan);
      }
      await beginPlain(plain);
    },
    async end(done) {
      await endPlain(
        done
          .filter(({ open }) => !open.deed.end)
          .map((one, at) => endedFact(history.end() + at, one)),
      );
      // A receipt is evidence, also where its fact is refused: each is written before the run departs.
      let fencedOut = false;
      for (const { open, position, end } of done) {
        if (!open.deed.end) continue;
        const fact = endedFact(history.end(), { open, position, end });
        const written = await open.deed.end(fact, end, open.begun);
        if (written === 'written') history.addEnded(fact);
        else fencedOut = true;
      }
      if (fencedOut) throw new Departed();
    },
  };
}

const begunFact = (position: number, { kind, name }: Deed, plan: Plan): BegunFact => ({
  type: 'begun',
  position,
  name,
  kind,
  ...plan,
});

/** The fact that ends a deed. */
export const endedFact = (position: number, { position: of, end }: DoneDeed): EndedFact => ({
  type: 'ended',
  position,
  of,
  ...(end.value === undefined ? {} : { value: end.value }),
  ...(end.error === undefined ? {} : { error: end.error }),
});
