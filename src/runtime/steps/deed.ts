import type { Json } from '../../kernel/json.ts';
import type { RpcError } from '../../protocol/model.ts';
import type { Journalled, JournalFact, JournalKind } from '../../stores/journal.ts';

export type BegunFact = Extract<JournalFact, { readonly type: 'begun' }>;
export type EndedFact = Extract<JournalFact, { readonly type: 'ended' }>;

/** What its `begun` fact says beside name and kind. */
export type Plan = Pick<BegunFact, 'operationId' | 'note'>;

/** A deed that cannot be done: journalled as such, so that a later attempt is refused it in the same place. */
export interface Refusal {
  readonly refusal: Error;
}

/** How a deed ended. Nothing of it: it returned nothing. */
export interface DeedEnd {
  readonly value?: Json;
  readonly error?: RpcError;
  /** Of an effect: its work returned, whatever became of what it returned. */
  readonly answered?: boolean;
}

/** In this process until it ends. `done` never rejects. */
export interface Working {
  readonly kind: 'working';
  readonly done: Promise<DeedEnd>;
}

/** In the store, until a time or an answer. */
export interface Waiting {
  readonly kind: 'waiting';
  /** By the store's clock. */
  readonly at?: number;
  readonly onAnswers: boolean;
  /** Its end, or nothing while it waits. */
  look(): Promise<DeedEnd | undefined>;
}

/** One thing that a handler has asked for through its context: a step, an effect, a question, a sleep. */
export interface Deed {
  readonly kind: JournalKind;
  readonly name: string;
  /** Asked once, when it is really begun; not in a replay. */
  plan(): Promise<Plan | Refusal>;
  /** Makes the fact durable with what belongs to it. Absent: the fact is all there is, and may be written with others. */
  readonly begin?: (fact: BegunFact) => Promise<Journalled>;
  /** `interrupted`: an earlier attempt had begun it. */
  pursue(begun: BegunFact, interrupted: boolean): Working | Waiting;
  /** The same for its end. */
  readonly end?: (fact: EndedFact, end: DeedEnd, begun: BegunFact) => Promise<Journalled>;
  /**
   * Hands its end to the handler, from the fact and the store alone, so that it is the same in every attempt. Rejects
   * only where the whole run ends by it.
   */
  deliver(ended: EndedFact, begun: BegunFact): Promise<void>;
  /** Tells the handler that it will not be done, because the run was told to stop. Leaves no trace. */
  refuse(why: Error): void;
}

export const isRefusal = (plan: Plan | Refusal): plan is Refusal => 'refusal' in plan;
