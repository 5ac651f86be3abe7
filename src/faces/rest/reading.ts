import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { isJsonObject } from '../../kernel/json.ts';
import { safeText } from '../../kernel/text.ts';
import { readBody } from '../mcp/http/body.ts';
import { readJsonText } from '../mcp/json-text.ts';
import { usage } from './problems.ts';
import type { RestRoute } from './route.ts';

const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '');

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** What is wrong with a value, by the place where it is wrong. Never repeats what was sent. */
function problemOf({ issues }: z.ZodError, whole: string): string {
  const [issue] = issues;
  if (issue?.code === 'unrecognized_keys')
    return `${whole} has no member ${safeText(issue.keys.join(', '), 80)}`;
  const place =
    issue === undefined || issue.path.length === 0 ? whole : issue.path.map(String).join('.');
  return `${safeText(place, 80)}: ${issue?.message ?? 'not understood'}`;
}

function readWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole: string,
): z.output<Schema> {
  const read = schema.safeParse(value);
  if (!read.success) throw usage(problemOf(read.error, whole));
  return read.data;
}

/** The query of a request. A parameter that is not known or comes twice is an error: ignored, it would be a promise. */
export function readQuery({ query }: RestRoute, url: URL): unknown {
  const given: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(given, name)) throw usage(`${safeText(name, 80)} is given more than once`);
    given[name] = value;
  }
  return readWith(query, given, 'the query');
}

/** The body of a request, as the route's schema reads it. */
export async function readRequestBody(
  { body }: RestRoute,
  req: IncomingMessage,
  maxBytes: number,
): Promise<unknown> {
  if (!body) return {};
  if (body.optional === true && !hasBody(req)) return {};
  if (!isJson(req)) throw usage('Content-Type must be application/json', 415);
  const read = await readBody(req, maxBytes);
  if (read.kind === 'too_large') throw usage(`the body is larger than ${maxBytes} bytes`, 413);
  if (read.kind === 'unreadable') throw usage('the body is no UTF-8 text');
  const json = readJsonText(read.text);
  if (json.kind === 'malformed') throw usage('the body is no JSON');
  if (json.kind === 'unsafe') throw usage(`the body is refused: ${json.problem}`);
  if (!isJsonObject(json.value)) throw usage('the body must be a JSON object');
  return readWith(body.schema, json.value, 'the body');
}
