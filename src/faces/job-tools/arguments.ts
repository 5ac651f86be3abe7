import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { JOB_WAIT_MS_MAX } from '../../runtime/job-tools.ts';

/** Arguments of a helper as they could be understood, or what is wrong with them, in words for a model. */
export type Read<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly problem: string };

const unreadable = (problem: string): Read<never> => ({ kind: 'unreadable', problem });

export function readJobId({ job }: JsonObject): Read<string> {
  return typeof job === 'string' && job.trim() !== ''
    ? { kind: 'read', value: job.trim() }
    : unreadable('Give job: the id that the answer of the first call named.');
}

/** What is asked for beyond the longest wait is that wait: a model that wants a minute gets what there is. */
export function readWaitMs({ seconds }: JsonObject): number {
  const wanted = typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : JOB_WAIT_MS_MAX;
  return Math.min(wanted, JOB_WAIT_MS_MAX);
}

export function readPart({ part }: JsonObject): Read<number | undefined> {
  if (part === undefined || (typeof part === 'number' && Number.isInteger(part) && part >= 1))
    return { kind: 'read', value: part };
  return unreadable('part is a whole number from 1.');
}

export interface ModelAnswer {
  readonly question: string | undefined;
  readonly content: JsonObject;
}

export function readAnswer({ question, content }: JsonObject): Read<ModelAnswer> {
  if (question !== undefined && typeof question !== 'string')
    return unreadable('question is the key of an open question; leave it out where there is one.');
  if (!isJsonObject(content))
    return unreadable('Give content: an object with the fields of the form.');
  return { kind: 'read', value: { question, content } };
}

export function readCursor({ cursor }: JsonObject): Read<string | undefined> {
  return cursor === undefined || typeof cursor === 'string'
    ? { kind: 'read', value: cursor }
    : unreadable('cursor is the text that the list before gave; leave it out to begin.');
}
