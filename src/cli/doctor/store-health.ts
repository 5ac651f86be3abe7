import type { StoreHealth } from '../../stores/store.ts';
import { fail, ok } from './finding.ts';
import type { Finding } from './finding.ts';

export function storeFinding({ ok: isSound, kind, schemaVersion, detail }: StoreHealth): Finding {
  if (isSound) return ok('store', `${kind}, schema ${schemaVersion}: ${detail}`);
  const hint = 'stop the gateway and restore a backup of the data directory';
  return fail('store', { detail, hint });
}
