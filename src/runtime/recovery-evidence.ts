import type { Task } from '../protocol/model.ts';
import type { Fence } from '../stores/attempts.ts';
import type { JournalFact } from '../stores/journal.ts';
import type { Core } from './core.ts';
import { openEffects, type SentEffect } from './recount.ts';
import { endByReceipt } from './steps/receipts.ts';

/**
 * The effect of a journalled handler that was cut off, by what the ledger knows now: a receipt that came when its
 * attempt was fenced out already ends its effect all the same, and then nothing is cut off (decision 6).
 */
export async function cutOffEffect(
  { store }: Core,
  { id, journalled }: Task,
  fence?: Fence,
): Promise<SentEffect | undefined> {
  if (!journalled) return undefined;
  const facts = await store.journal.read(id);
  const [first, ...more] = openEffects(facts);
  if (!first || !fence) return first;
  const late: JournalFact[] = [];
  for (const effect of [first, ...more]) {
    const operation = await store.operations.get('system', effect.operationId);
    const end = operation && endByReceipt(operation);
    if (!end) return effect;
    late.push({ type: 'ended', position: facts.length + late.length, of: effect.position, ...end });
  }
  return (await store.journal.append(fence, late)) === 'written' ? undefined : first;
}
