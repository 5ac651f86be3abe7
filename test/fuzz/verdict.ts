import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Exchange, RawAnswer } from './raw-http.ts';

type Secret =
  'a stack' | 'a place in the code' | 'the folder of the code' | 'the folder of the data';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** What nobody outside may read: where the code is, where it broke, and where the data are. */
const SECRETS: readonly (readonly [what: Secret, pattern: RegExp])[] = [
  ['a stack', /\n\s+at \S|\bat (?:async )?[\w.<>]+ \(|node:internal/],
  ['a place in the code', /[\w/-]+\.(?:[cm]?[jt]s):\d+/],
  ['the folder of the code', new RegExp(ROOT.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))],
  ['the folder of the data', new RegExp(`${tmpdir()}/longcall`)],
];

/** What an answer gives away, if anything. Operators are told where the data are. */
export const givenAway = (text: string, to: 'callers' | 'operators'): Secret | undefined =>
  SECRETS.find(
    ([what, pattern]) =>
      pattern.test(text) && (to === 'callers' || what !== 'the folder of the data'),
  )?.[0];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Errors {
  readonly error?: { readonly code?: unknown };
}

/** Whether a body is an error document: of JSON-RPC, or of the admin API. */
const hasError = (body: unknown, codeType: 'number' | 'string'): boolean =>
  typeof (body as Errors | undefined)?.error?.code === codeType;

export interface VerdictOptions {
  readonly framing: 'whole' | 'broken';
  /** `number` for JSON-RPC, `string` for the admin API. */
  readonly codeType: 'number' | 'string';
}

/** What is wrong with how an input was dealt with, or nothing. */
export function problemWith(
  { answers, end, tookMs }: Exchange,
  options: VerdictOptions,
): string | undefined {
  if (end === 'silent') return `no answer and no close within ${Math.round(tookMs)} ms`;
  if (options.framing === 'whole' && end === 'closed' && answers.length === 0)
    return 'closed without an answer';
  for (const answer of answers) {
    const problem = problemIn(answer, options);
    if (problem !== undefined) return `${problem}: ${answer.status} ${answer.body.slice(0, 500)}`;
  }
  return undefined;
}

function problemIn(
  { status, headers, body }: RawAnswer,
  { codeType }: VerdictOptions,
): string | undefined {
  const text = `${body}\n${Array.from(headers.values()).join('\n')}`;
  const leak = givenAway(text, codeType === 'number' ? 'callers' : 'operators');
  if (leak !== undefined) return `gives away ${leak}`;
  if (headers.has('set-cookie') || headers.has('x-injected'))
    return 'a header of the caller came back';
  if (status >= 500)
    return hasError(jsonOf(body), codeType) ? undefined : 'a 5xx without an error document';
  if (body === '' || headers.get('content-type')?.includes('application/json') !== true)
    return undefined;
  return jsonOf(body) === undefined ? 'no JSON although it says so' : undefined;
}
