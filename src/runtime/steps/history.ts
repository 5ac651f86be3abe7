import { invariant } from '../../kernel/invariant.ts';
import type { JournalFact, JournalKind } from '../../stores/journal.ts';
import type { BegunFact, Deed, EndedFact } from './deed.ts';

/** A deed by its name, for people. */
export interface DeedName {
  readonly kind: JournalKind;
  readonly name: string;
}

/** Where a handler departs from what it did before. Nothing: recorded or asked for was an end. */
export interface Mismatch {
  readonly position: number;
  readonly expected: DeedName | undefined;
  readonly found: DeedName | undefined;
}

/** A deed that was begun and has not ended. */
export interface OpenDeed {
  readonly deed: Deed;
  readonly begun: BegunFact;
  /** An earlier attempt had begun it. */
  readonly replayed: boolean;
}

/**
 * The one gapless sequence of facts. What was recorded is reproduced in its order; what is new is recorded first and
 * goes the same way. Every fact has its place, the ends too: a handler that waits for several things at once sees them
 * end in the same order in each attempt.
 */
export interface History {
  /** The fact that is to be reproduced next; nothing when all are. */
  next(): JournalFact | undefined;
  /** The position of the next fact to be written. */
  end(): number;
  /** Takes a deed as the next recorded one, or says how it differs. */
  reproduce(deed: Deed): Mismatch | undefined;
  /** Takes the next fact as the end of a deed. */
  close(fact: EndedFact): OpenDeed;
  /** A deed whose beginning has become durable. Everything before it was reproduced. */
  addBegun(deed: Deed, begun: BegunFact): void;
  /** An end that has become durable, to be handed over in its turn. */
  addEnded(fact: EndedFact): void;
  /** By position. */
  open(): ReadonlyMap<number, OpenDeed>;
}

const nameOf = ({ kind, name }: DeedName): DeedName => ({ kind, name });

export function createHistory(recorded: readonly JournalFact[]): History {
  const facts = Array.from(recorded);
  const open = new Map<number, OpenDeed>();
  let cursor = 0;

  return {
    next: () => facts[cursor],
    end: () => facts.length,
    reproduce(deed) {
      const fact = facts[cursor];
      invariant(fact?.type === 'begun', 'a deed is reproduced where one was recorded');
      if (fact.name !== deed.name || fact.kind !== deed.kind)
        return { position: cursor, expected: nameOf(fact), found: nameOf(deed) };
      open.set(cursor, { deed, begun: fact, replayed: true });
      cursor += 1;
      return undefined;
    },
    close({ of }) {
      const ended = open.get(of);
      invariant(ended !== undefined, 'an end in the journal belongs to a deed that is open');
      open.delete(of);
      cursor += 1;
      return ended;
    },
    addBegun(deed, begun) {
      invariant(cursor === facts.length, 'a deed begins when every fact before it was reproduced');
      facts.push(begun);
      open.set(cursor, { deed, begun, replayed: false });
      cursor += 1;
    },
    addEnded: (fact) => void facts.push(fact),
    open: () => open,
  };
}
