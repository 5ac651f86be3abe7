import { isJsonObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { RpcError } from '../../protocol/model.ts';
import type { JobJournal } from '../job.ts';
import { sealedContentOf, sealedFor } from '../page-content.ts';
import type { StepSite } from './context.ts';
import type { Deed, DeedEnd } from './deed.ts';
import { errorToKeep } from './step-error.ts';
import { StepRefused } from './step-refused.ts';
import { endOfWork, type Outcome } from './work.ts';

/** Where a sealed value lies. */
export interface SealedPlace {
  readonly taskId: string;
  /** The question that it answers. */
  readonly key: string;
}

export interface SecretDeedOptions {
  readonly name: string;
  readonly place: SealedPlace;
  readonly signal: AbortSignal;
  readonly journal: Pick<JobJournal, 'findInput' | 'consumeAnswer'>;
  readonly vault: Vault;
  readonly work: (value: JsonObject, at: StepSite) => unknown;
  readonly outcome: Outcome;
}

/**
 * A step that may see a sealed value. The value is opened for it alone; the same transaction that remembers the step's
 * end erases it.
 */
export function createSecretDeed(options: SecretDeedOptions): Deed {
  const { name, place, journal, outcome } = options;
  return {
    kind: 'secret',
    name,
    plan: () => Promise.resolve({}),
    pursue: (_begun, interrupted) => ({ kind: 'working', done: use(options, interrupted) }),
    end: (fact) => journal.consumeAnswer(place.key, fact),
    deliver: outcome.deliver,
    refuse: outcome.refuse,
  };
}

async function use(options: SecretDeedOptions, interrupted: boolean): Promise<DeedEnd> {
  const { name, signal, work } = options;
  const value = await opened(options);
  if (value === undefined)
    return { error: errorToKeep(new StepRefused(name, 'cannot open the sealed value')) };
  const end = await endOfWork(name, () => work(value, { signal, interrupted }));
  return end.error ? { ...end, error: withoutValue(end.error, value) } : end;
}

/** Shorter ones are in every text. */
const TELLING_CHARS = 4;

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return isJsonObject(value) || Array.isArray(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** An error often quotes what it failed with; of this value nothing may be remembered. */
function withoutValue(error: RpcError, value: JsonObject): RpcError {
  const telling = textsIn(value).filter(({ length }) => length >= TELLING_CHARS);
  const clean = (text: string): string =>
    telling.reduce((left, secret) => left.replaceAll(secret, '[sealed]'), text);
  const data = error.data === undefined ? undefined : cleanJson(error.data, clean);
  return {
    code: error.code,
    message: clean(error.message),
    ...(data === undefined ? {} : { data }),
  };
}

function cleanJson(value: Json, clean: (text: string) => string): Json {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = clean(String(value));
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((one) => cleanJson(one, clean));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [clean(name), cleanJson(one ?? null, clean)]),
  );
}

async function opened({
  place,
  journal,
  vault,
}: SecretDeedOptions): Promise<JsonObject | undefined> {
  const answer = (await journal.findInput(place.key))?.answer;
  const sealed = answer?.kind === 'result' ? sealedContentOf(answer.result) : undefined;
  return sealed === undefined ? undefined : vault.open(sealed, sealedFor(place.taskId, place.key));
}
