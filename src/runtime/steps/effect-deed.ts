import { createHash } from 'node:crypto';
import { crashPoint } from '../../kernel/crash-point.ts';
import { newId } from '../../kernel/ids.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Random } from '../../kernel/random.ts';
import type { Task } from '../../protocol/model.ts';
import type { NewEffect } from '../../stores/journal.ts';
import type { JobJournal } from '../job.ts';
import type { EffectSite } from './context.ts';
import type { BegunFact, Deed, DeedEnd } from './deed.ts';
import type { EffectKeys } from './effect-keys.ts';
import { receiptOf } from './receipts.ts';
import { StepRefused } from './step-refused.ts';
import { endOfWork, type Outcome } from './work.ts';

export interface EffectDeedOptions {
  readonly name: string;
  readonly task: Task;
  readonly signal: AbortSignal;
  readonly journal: Pick<JobJournal, 'dispatchEffect' | 'recordReceipt'>;
  readonly keys: EffectKeys;
  readonly random: Random;
  readonly work: (at: EffectSite) => unknown;
  readonly outcome: Outcome;
}

/**
 * Work that must not be repeated, with a row of its own in the ledger: `dispatched` before it begins, its receipt when
 * it has returned. One that was begun and has not ended is never begun again.
 */
export function createEffectDeed(options: EffectDeedOptions): Deed {
  const { name, task, journal, outcome } = options;
  return {
    kind: 'effect',
    name,
    plan: () =>
      Promise.resolve(
        task.operationId === undefined
          ? {
              refusal: new StepRefused(
                name,
                `is an effect, and the tool ${task.tool} is declared as read. Declare its effect class, or make it a step`,
              ),
            }
          : { operationId: newId('operation', options.random) },
      ),
    begin: (fact) => journal.dispatchEffect(newEffect(options, fact), fact),
    pursue(begun, interrupted) {
      invariant(!interrupted, 'what may have been sent is never sent again');
      crashPoint('effect-dispatched');
      return { kind: 'working', done: send(options, operationIdOf(begun)) };
    },
    async end(fact, end, begun) {
      const kept = await journal.recordReceipt(receiptOf(operationIdOf(begun), end), fact);
      crashPoint('receipt-written');
      return kept ? 'written' : 'fenced';
    },
    deliver: outcome.deliver,
    refuse: outcome.refuse,
  };
}

function operationIdOf({ operationId }: BegunFact): string {
  invariant(operationId !== undefined, 'an effect has a row in the ledger');
  return operationId;
}

function newEffect({ task, name, keys }: EffectDeedOptions, begun: BegunFact): NewEffect {
  const { operationId: parentId, effect } = task;
  invariant(parentId !== undefined && effect !== 'read', 'a read has no effects');
  // What is sent is known to the handler alone: the effect is told from others by its call and its name.
  const argumentsDigest = createHash('sha256').update(keys.keyOf(task, name)).digest('base64url');
  return { id: operationIdOf(begun), effect, argumentsDigest, name, parentId };
}

async function send(options: EffectDeedOptions, operationId: string): Promise<DeedEnd> {
  const { name, task, signal, keys, work } = options;
  const key = keys.keyOf(task, name);
  const end = await endOfWork(name, () => work({ signal, key, operationId }));
  crashPoint('effect-done');
  return end;
}
