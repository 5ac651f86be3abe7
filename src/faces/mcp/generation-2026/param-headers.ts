import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, objectAt, type Json, type JsonObject } from '../../../kernel/json.ts';
import type { RpcFailure } from '../../../runtime/surface.ts';
import type { ServedTool } from '../../../runtime/tool.ts';
import { decodeHeader } from './header-values.ts';
import { headerMismatch } from './headers.ts';

/** One argument that callers mirror into a header, by the tool's `x-mcp-header` annotation (G2-152). */
interface Mirrored {
  readonly header: string;
  readonly path: readonly string[];
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const DEPTH_MAX = 16;

function mirroredIn(schema: JsonObject, path: readonly string[]): readonly Mirrored[] {
  const name = schema['x-mcp-header'];
  const own =
    typeof name === 'string' && TOKEN.test(name) ? [{ header: `Mcp-Param-${name}`, path }] : [];
  const properties =
    path.length < DEPTH_MAX ? Object.entries(objectAt(schema, 'properties') ?? {}) : [];
  const below = properties.flatMap(([member, child]) =>
    isJsonObject(child) ? mirroredIn(child, [...path, member]) : [],
  );
  return [...own, ...below];
}

const known = new WeakMap<JsonObject, readonly Mirrored[]>();

function mirroredOf({ definition }: ServedTool): readonly Mirrored[] {
  const found = known.get(definition) ?? mirroredIn(objectAt(definition, 'inputSchema') ?? {}, []);
  known.set(definition, found);
  return found;
}

const valueAt = (root: JsonObject, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (node, member) =>
      isJsonObject(node) && Object.hasOwn(node, member) ? node[member] : undefined,
    root,
  );

function agrees(header: string, value: string | number | boolean): boolean {
  if (header === String(value)) return true;
  return typeof value === 'number' && /^-?\d+(?:\.\d+)?$/.test(header) && Number(header) === value;
}

function problemOf(
  { header, path }: Mirrored,
  args: JsonObject,
  headers: IncomingHttpHeaders,
): RpcFailure | undefined {
  const value = valueAt(args, path);
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  const raw = headers[header.toLowerCase()];
  if (typeof raw !== 'string') return headerMismatch(header, 'is missing');
  const decoded = decodeHeader(raw);
  if (decoded === undefined) return headerMismatch(header, 'is no valid base64 of UTF-8');
  return agrees(decoded, value)
    ? undefined
    : headerMismatch(header, 'names something else than the argument');
}

/** The first annotated argument whose header is missing or says something else. */
export function paramHeaderProblem(
  tool: ServedTool,
  args: JsonObject,
  headers: IncomingHttpHeaders,
): RpcFailure | undefined {
  for (const mirrored of mirroredOf(tool)) {
    const problem = problemOf(mirrored, args, headers);
    if (problem) return problem;
  }
  return undefined;
}
