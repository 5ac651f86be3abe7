import { isJsonObject, stringAt, type JsonObject } from '../../kernel/json.ts';
import { messageOf } from '../../kernel/logger.ts';
import { safeText } from '../../kernel/text.ts';
import type { RpcError } from '../../protocol/model.ts';
import { RPC_CODES } from '../../protocol/names.ts';
import { RpcFailure } from '../surface.ts';
import { jsonCopy } from './journal-value.ts';

/** Longest text of an error that the journal keeps. */
const PROBLEM_CHARS = 1_000;
const WORD_CHARS = 64;

/**
 * What the work of a step threw, as the journal keeps it: the name, the message and a `code`, and nothing else. The
 * handler gets this one from the first attempt on, so that it cannot decide by something that a later attempt would
 * not have.
 */
export class StepError extends Error {
  override readonly name: string;
  /** The `code` of the original, where it had one (`ECONNREFUSED`, 402). */
  readonly code: string | number | undefined;

  constructor(name: string, message: string, code?: string | number) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/** Whatever can be thrown may have members that throw themselves; what cannot be read is not there. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const wordAt = (thrown: object, member: 'name' | 'code'): unknown =>
  member in thrown ? (thrown as Readonly<Record<string, unknown>>)[member] : undefined;

function nameOf(thrown: unknown): string {
  const name = thrown instanceof Error ? wordAt(thrown, 'name') : undefined;
  return (typeof name === 'string' && safeText(name, WORD_CHARS)) || 'Error';
}

function codeOf(thrown: unknown): string | number | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const code = wordAt(thrown, 'code');
  if (typeof code === 'number' && Number.isFinite(code)) return code;
  return typeof code === 'string' ? safeText(code, WORD_CHARS) : undefined;
}

/** Texts of a handler are shown to people and models: made safe, secrets removed (decision 13). */
const problemOf = (thrown: unknown): string =>
  safeText(messageOf(thrown), PROBLEM_CHARS) || 'the step threw without saying why';

function rpcErrorToKeep({ code, message, data }: RpcFailure): RpcError {
  const kept = jsonCopy(data);
  return { code, message, data: kept === undefined ? { rpc: true } : { rpc: true, data: kept } };
}

/** The error of a step in the form in which the journal keeps it. Never throws itself. */
export function errorToKeep(thrown: unknown): RpcError {
  const failure = readable(() => (thrown instanceof RpcFailure ? thrown : undefined));
  if (failure) return rpcErrorToKeep(failure);
  const code = readable(() => codeOf(thrown));
  const name = readable(() => nameOf(thrown)) ?? 'Error';
  const data: JsonObject = { name, ...(code === undefined ? {} : { code }) };
  return { code: RPC_CODES.internalError, message: problemOf(thrown), data };
}

/** The error that the handler gets, now or in a later attempt. */
export function errorToThrow({ code, message, data }: RpcError): Error {
  const kept = isJsonObject(data) ? data : undefined;
  if (kept?.['rpc'] === true) return new RpcFailure(code, message, kept['data']);
  const original = kept?.['code'];
  const known = typeof original === 'string' || typeof original === 'number';
  return new StepError(stringAt(kept, 'name') ?? 'Error', message, known ? original : undefined);
}
