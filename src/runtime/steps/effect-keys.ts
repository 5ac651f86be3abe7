import { createHmac } from 'node:crypto';
import type { Task } from '../../protocol/model.ts';

/**
 * Idempotency keys for the other side of effects. The same for one effect of one call, whatever attempt and whatever
 * process; nobody who knows the ids can work them out.
 */
export interface EffectKeys {
  /** `effect`: its name in the handler; absent for the key of the whole call. */
  keyOf(task: Pick<Task, 'id' | 'operationId'>, effect?: string): string;
}

const KEY_PREFIX = 'lck_';

/**
 * Made from the operation where there is one: a later call on the same operation intends the same effects (decision 4).
 * `secret`: at least 32 random bytes of this installation that serve nothing else.
 */
export function createEffectKeys(secret: Uint8Array): EffectKeys {
  return {
    keyOf({ id, operationId }, effect) {
      const named = JSON.stringify([operationId ?? id, ...(effect === undefined ? [] : [effect])]);
      return KEY_PREFIX + createHmac('sha256', secret).update(named).digest('base64url');
    },
  };
}
