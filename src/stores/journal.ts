import type { Json } from '../kernel/json.ts';
import type { CallEnd, Operation } from '../ledger/operation.ts';
import type { RpcError } from '../protocol/model.ts';
import type { Fence } from './attempts.ts';
import type { NewOperation } from './tasks.ts';

/** What a handler does through its context, and what is remembered of it. */
export const JOURNAL_KINDS = ['step', 'effect', 'ask', 'sleep', 'secret'] as const;
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/**
 * One fact in the history of a journalled handler. `position` counts from 0 without gaps over all facts of a task, so
 * that a later attempt can hand them to the handler in the order in which they happened.
 */
export type JournalFact =
  | {
      readonly type: 'begun';
      readonly position: number;
      readonly name: string;
      readonly kind: JournalKind;
      /** Of an effect: its row in the ledger. */
      readonly operationId?: string;
      /** What is known when it begins: the keys of an ask, the wake-up time of a sleep. Never arguments or answers. */
      readonly note?: Json;
    }
  | {
      readonly type: 'ended';
      readonly position: number;
      /** Position of the fact that it ends. */
      readonly of: number;
      /** Absent where the function returned nothing. */
      readonly value?: Json;
      /** What the function threw; then there is no value. */
      readonly error?: RpcError;
    };

/**
 * Whether code of the tool's author runs from this fact on. What it does to the world nobody else knows, so in a tool
 * that is no read the call counts as sent (architecture §4). An effect says so by itself.
 */
export const beginsWork = (fact: JournalFact): boolean =>
  fact.type === 'begun' && (fact.kind === 'step' || fact.kind === 'secret');

/**
 * What became of a write to the journal; nothing of it is there unless it is `written`. `fenced`: the attempt is fenced
 * out, or its task has ended. `conflict`: another position comes next, or what it ends never began or has ended before,
 * so two runs of one attempt disagree.
 */
export type Journalled = 'written' | 'fenced' | 'conflict';

/** A row of its own in the ledger, for one effect of a handler. It has the owner, tenant and tool of its task. */
export interface NewEffect extends NewOperation {
  /** The name of the effect in its handler. */
  readonly name: string;
  /** The operation of the whole call: the task's. */
  readonly parentId: string;
}

/** Most bytes of a receipt's JSON that are kept. */
export const RECEIPT_BYTES_MAX = 16_384;

export interface Receipt {
  readonly operationId: string;
  readonly end: CallEnd;
  /** One word why, for programs. */
  readonly reason: string;
  /** What the peer gave as proof. Above RECEIPT_BYTES_MAX it is not kept, and its end still counts. */
  readonly receipt?: Json;
  /** The journal's fact, written in the same transaction if the fence still holds. */
  readonly journal?: { readonly fence: Fence; readonly fact: JournalFact };
}

/** What journalled handlers have done. Rows go with their task; those in the ledger stay (S11). */
export interface JournalStore {
  /**
   * One transaction; refused as a whole where the attempt is fenced out or its task has ended. Where work begins by it
   * (`beginsWork`) and the task has an operation, the operation and the attempt are dispatched in the same transaction;
   * `fenced` also where the ledger does not let it. One that was dispatched before stays what it is by now.
   */
  append(fence: Fence, facts: readonly JournalFact[]): Promise<Journalled>;
  /** All facts of a task in order of position. */
  read(taskId: string): Promise<readonly JournalFact[]>;
  /**
   * Durable before an effect is sent: its ledger row as `dispatched`, the call's own operation and the attempt as
   * dispatched too, and the fact, in one transaction. An effect whose row exists already (a repeat by the same name)
   * conflicts. `fenced` also where the ledger does not let the call's operation be dispatched.
   */
  dispatchEffect(fence: Fence, effect: NewEffect, fact: JournalFact): Promise<Journalled>;
  /**
   * Evidence about something dispatched: taken from any epoch, at any time, also after the task ended or its record
   * was swept. What was never sent learns nothing. A receipt that moves the operation replaces an earlier one; any
   * other only fills an empty place. `journalled` says whether the fact could still be written.
   */
  recordReceipt(
    receipt: Receipt,
  ): Promise<{ readonly operation?: Operation; readonly journalled: boolean }>;
  /**
   * Erases the stored answer of a secret question and writes the fact, in one transaction. `conflict` also where no
   * answer is stored: it can be consumed once.
   */
  consumeAnswer(fence: Fence, key: string, fact: JournalFact): Promise<Journalled>;
}
