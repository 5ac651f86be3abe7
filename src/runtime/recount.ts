import { isJsonObject, type JsonObject } from '../kernel/json.ts';
import { safeText } from '../kernel/text.ts';
import type { Outcome } from '../protocol/model.ts';
import type { JournalFact } from '../stores/journal.ts';
import { MADE_UP_REASONS } from './outcomes.ts';

/** Most effects that are named in words; the rest is counted. */
const NAMED_MAX = 5;
const NAME_CHARS = 64;

/** An effect that a handler has sent, and whether the other side has answered. */
export interface SentEffect {
  readonly name: string;
  readonly operationId: string;
  readonly outcome: 'done' | 'unknown';
}

/** What a call had done when it ended otherwise than by its result: its effects in the order in which they were sent. */
export function sentEffects(facts: readonly JournalFact[]): readonly OpenEffect[] {
  const answered = new Set(
    facts.flatMap((fact) => (fact.type === 'ended' && fact.error === undefined ? fact.of : [])),
  );
  return facts.flatMap((fact): readonly OpenEffect[] => {
    if (fact.type !== 'begun' || fact.kind !== 'effect' || fact.operationId === undefined)
      return [];
    const { name, operationId, position } = fact;
    return [{ name, operationId, position, outcome: answered.has(position) ? 'done' : 'unknown' }];
  });
}

/** An effect that was cut off, and the position of its `begun` fact. */
export interface OpenEffect extends SentEffect {
  readonly position: number;
}

/** The effects that were cut off: sent, and nobody has seen their end. */
export function openEffects(facts: readonly JournalFact[]): readonly OpenEffect[] {
  const ended = new Set(facts.flatMap((fact) => (fact.type === 'ended' ? fact.of : [])));
  return sentEffects(facts).filter(({ position }) => !ended.has(position));
}

const named = (effects: readonly SentEffect[]): string => {
  const shown = effects
    .slice(0, NAMED_MAX)
    .map(({ name, operationId }) => `${safeText(name, NAME_CHARS)} (${operationId})`);
  const left = effects.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].join(', ');
};

/** The same for people. Nothing where nothing was sent. */
export function recountWords(effects: readonly SentEffect[]): string | undefined {
  const done = effects.filter(({ outcome }) => outcome === 'done');
  const unknown = effects.filter(({ outcome }) => outcome === 'unknown');
  const sentences = [
    ...(done.length > 0 ? [`Done by then: ${named(done)}.`] : []),
    ...(unknown.length > 0 ? [`Not known whether it happened: ${named(unknown)}.`] : []),
  ];
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** An outcome as it is settled, with the words that stand beside the status. */
export interface Recounted {
  readonly outcome: Outcome;
  /** Absent: the words of the outcome itself. */
  readonly message?: string;
}

/** An end without a result says what had happened before it; one that the handler itself has worded stays as it is. */
export function recounted(outcome: Outcome, effects: readonly SentEffect[]): Recounted {
  const words = recountWords(effects);
  if (words === undefined || outcome.kind === 'result') return { outcome };
  if (outcome.kind === 'cancelled') return { outcome, message: `cancelled. ${words}` };
  const message = `${outcome.error.message} ${words}`;
  const { data } = outcome.error;
  if (!isMadeUp(data)) return { outcome, message };
  const facts: JsonObject = { ...data, effects: effects.map(toJson) };
  return { outcome: { kind: 'error', error: { ...outcome.error, message, data: facts } } };
}

const toJson = ({ name, operationId, outcome }: SentEffect): JsonObject => ({
  name,
  operationId,
  outcome,
});

const isMadeUp = (data: unknown): data is JsonObject =>
  isJsonObject(data) && MADE_UP_REASONS.some((reason) => reason === data['reason']);
