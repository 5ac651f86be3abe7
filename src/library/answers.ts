import { LongcallError } from '../kernel/errors.ts';
import { isJsonObject, type JsonObject } from '../kernel/json.ts';

const text = (words: string): JsonObject => ({ type: 'text', text: words });

/** What a handler returned, as a result of the protocol. Throws where nobody could read it as one. */
export function resultOf(answer: unknown, tool: string): JsonObject {
  if (answer === undefined) return { content: [] };
  if (typeof answer === 'string') return { content: [text(answer)] };
  const object = isPlain(answer) ? answer : undefined;
  if (!object) throw noResult(tool, wordFor(answer));
  if (Array.isArray(object['content'])) return object;
  if (typeof object['resultType'] === 'string') throw noResult(tool, QUESTION);
  const { structuredContent } = object;
  if (structuredContent === undefined && object['isError'] === undefined)
    return { content: [text(JSON.stringify(object))], structuredContent: object };
  if (!isPlain(structuredContent)) throw noResult(tool, 'an error without content');
  return { ...object, content: [text(JSON.stringify(structuredContent))] };
}

/** A value of JSON with named members, not one that a class has made. */
function isPlain(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const QUESTION = 'a result of another kind than a tool’s; ask people with job.ask';

const noResult = (tool: string, what: string): LongcallError =>
  new LongcallError(
    'LONGCALL_LIBRARY_USAGE',
    `the handler of "${tool}" returned ${what}; return text, an object, or { content: […] }`,
  );

function wordFor(answer: unknown): string {
  if (answer === null) return 'null';
  if (Array.isArray(answer)) return 'a list';
  return typeof answer === 'object'
    ? `an object of class ${answer.constructor.name}`
    : `a ${typeof answer}`;
}
