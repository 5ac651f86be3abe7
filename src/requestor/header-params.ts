import { isJsonObject, objectAt, stringAt, type Json, type JsonObject } from '../kernel/json.ts';
import { encodeHeaderValue } from './http-headers.ts';

/** A tool's argument that goes into a header too (G2-152). */
export interface HeaderParam {
  readonly path: readonly string[];
  readonly header: string;
}

export type HeaderParams =
  | { readonly kind: 'valid'; readonly params: readonly HeaderParam[] }
  /** The tool is unusable: a client must leave it out of what it offers. */
  | { readonly kind: 'invalid'; readonly problem: string };

const MARK = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** Schemas nest; a document deeper than this is not for us (G2-144). */
const DEPTH_MAX = 64;

/** Finds the arguments of a tool that are mirrored into headers, by its input schema. */
export function headerParamsOf(inputSchema: JsonObject | undefined): HeaderParams {
  const params: HeaderParam[] = [];
  const problem =
    inputSchema === undefined
      ? undefined
      : visit(inputSchema, { path: [], reachable: true, params });
  return problem === undefined ? { kind: 'valid', params } : { kind: 'invalid', problem };
}

interface Visit {
  readonly path: readonly string[];
  /** Whether only `properties` lie between the root and here. */
  readonly reachable: boolean;
  readonly params: HeaderParam[];
}

function visit(schema: JsonObject, at: Visit): string | undefined {
  if (at.path.length > DEPTH_MAX) return 'the schema is nested too deeply';
  const problem = MARK in schema ? take(schema, at) : undefined;
  if (problem !== undefined) return problem;
  for (const [keyword, value] of Object.entries(schema)) {
    if (
      keyword === 'const' ||
      keyword === 'enum' ||
      keyword === 'default' ||
      keyword === 'examples'
    )
      continue;
    const below = visitBelow({ keyword, value }, at);
    if (below !== undefined) return below;
  }
  return undefined;
}

function visitBelow(
  { keyword, value }: { keyword: string; value: Json | undefined },
  at: Visit,
): string | undefined {
  if (keyword === 'properties' && isJsonObject(value)) {
    return firstProblem(Object.entries(value), ([name, schema]) =>
      isJsonObject(schema) ? visit(schema, { ...at, path: [...at.path, name] }) : undefined,
    );
  }
  const hidden = { ...at, reachable: false, path: [...at.path, `<${keyword}>`] };
  const schemas: readonly (Json | undefined)[] = Array.isArray(value) ? value : [value];
  return firstProblem(schemas, (schema) =>
    isJsonObject(schema) ? visit(schema, hidden) : undefined,
  );
}

function firstProblem<T>(
  items: readonly T[],
  check: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function take(schema: JsonObject, at: Visit): string | undefined {
  const header = stringAt(schema, MARK);
  const where = at.path.join('.') || '<root>';
  if (!at.reachable || at.path.length === 0)
    return `${where}: ${MARK} is allowed on plain properties only`;
  if (header === undefined || !TOKEN.test(header)) return `${where}: ${MARK} is no header name`;
  if (!TYPES.includes(schema['type']))
    return `${where}: ${MARK} needs a string, integer or boolean`;
  if (at.params.some((known) => known.header.toLowerCase() === header.toLowerCase()))
    return `${where}: ${MARK} "${header}" is there twice`;
  at.params.push({ path: at.path, header });
  return undefined;
}

/** The headers of one call; absent and null arguments have none. */
export function paramHeaders(
  params: readonly HeaderParam[],
  args: JsonObject,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of params) {
    const value = valueAt(args, path);
    const text = value === undefined ? undefined : headerText(value);
    if (text !== undefined) headers[`mcp-param-${header}`] = encodeHeaderValue(text);
  }
  return headers;
}

function valueAt(args: JsonObject, path: readonly string[]): Json | undefined {
  const parent = path
    .slice(0, -1)
    .reduce<JsonObject | undefined>((node, name) => objectAt(node, name), args);
  return parent?.[path.at(-1) ?? ''];
}

function headerText(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'boolean' ? String(value) : undefined;
}
