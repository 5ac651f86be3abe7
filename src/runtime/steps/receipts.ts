import { createHash } from 'node:crypto';
import { isJsonObject, type Json } from '../../kernel/json.ts';
import type { Operation } from '../../ledger/operation.ts';
import { RECEIPT_BYTES_MAX, type Receipt } from '../../stores/journal.ts';
import type { DeedEnd } from './deed.ts';

/** The work of an effect has returned, and its receipt is what it returned. */
const ANSWERED = 'answered';
/** It has returned something that cannot be kept. */
const NOT_KEPT = 'answer_not_kept';

/** An answer is only a peer's word; what was thrown proves nothing, so that the operation stays unknown. */
export function receiptOf(
  operationId: string,
  { answered, value, error }: DeedEnd,
): Omit<Receipt, 'journal'> {
  if (answered !== true) return { operationId, end: 'error', reason: 'error' };
  const receipt = value === undefined ? undefined : boundedReceipt(value);
  const reason = error === undefined ? ANSWERED : NOT_KEPT;
  return { operationId, end: 'answered', reason, ...(receipt === undefined ? {} : { receipt }) };
}

/** What is too large for the ledger is told there by its hash; the value itself is in the journal. */
function boundedReceipt(value: Json): Json {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= RECEIPT_BYTES_MAX) return value;
  return { truncated: true, bytes, sha256: createHash('sha256').update(text).digest('hex') };
}

/** What an effect returned, by its row in the ledger alone; nothing where the row does not say. */
export function endByReceipt({ state, reason, receipt }: Operation): DeedEnd | undefined {
  if (state !== 'acknowledged' || reason !== ANSWERED) return undefined;
  if (isJsonObject(receipt) && receipt['truncated'] === true) return undefined;
  return receipt === undefined ? {} : { value: receipt };
}
