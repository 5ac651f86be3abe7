import type { IncomingHttpHeaders } from 'node:http';
import { objectAt, stringAt } from '../../../kernel/json.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { RpcFailure } from '../../../runtime/surface.ts';
import type { RpcRequest } from '../message.ts';
import { ENVELOPE } from '../meta.ts';
import { decodeHeader } from './header-values.ts';

/** The param that `Mcp-Name` mirrors (G2-149, G2-150). */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** G2-121: -32020, HTTP 400. The pair that disagrees is shown, cut short: it is the caller's own. */
export const headerMismatch = (header: string, problem: string): RpcFailure =>
  new RpcFailure(RPC_CODES.headerMismatch, `headers and body disagree: ${header} ${problem}`, {
    header,
  });

const single = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

interface Rule {
  readonly header: string;
  /** What the body says; nothing where it says nothing that the header could contradict. */
  readonly body: string | undefined;
  /** Whether the header must be there although the body says nothing. */
  readonly always: boolean;
}

function rulesFor({ method, params }: RpcRequest): readonly Rule[] {
  const named = NAMED_BY.get(method);
  const version = objectAt(params, '_meta')?.[ENVELOPE.version];
  return [
    {
      header: 'MCP-Protocol-Version',
      body: typeof version === 'string' ? version : undefined,
      always: true,
    },
    { header: 'Mcp-Method', body: method, always: true },
    ...(named === undefined
      ? []
      : [{ header: 'Mcp-Name', body: stringAt(params, named), always: false }]),
  ];
}

function problemOf(
  { header, body, always }: Rule,
  headers: IncomingHttpHeaders,
): RpcFailure | undefined {
  const raw = single(headers, header.toLowerCase());
  if (raw === undefined)
    return always || body !== undefined ? headerMismatch(header, 'is missing') : undefined;
  const value = decodeHeader(raw);
  if (value === undefined) return headerMismatch(header, 'is no valid base64 of UTF-8');
  return body !== undefined && value !== body
    ? headerMismatch(header, 'names something else than the body')
    : undefined;
}

/** The first standard header that is missing or contradicts the body (G2-146 to G2-151). */
export function headerProblem(
  request: RpcRequest,
  headers: IncomingHttpHeaders,
): RpcFailure | undefined {
  for (const rule of rulesFor(request)) {
    const problem = problemOf(rule, headers);
    if (problem) return problem;
  }
  return undefined;
}
