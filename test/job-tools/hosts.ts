import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { pathOf } from '../../src/faces/http-route.ts';
import { createHttpFace } from '../../src/faces/mcp/http-face.ts';
import { createRestFace } from '../../src/faces/rest/rest-face.ts';
import { objectAt, stringAt, type JsonObject } from '../../src/kernel/json.ts';
import { createKit, type Kit, type KitOptions } from '../faces/face-kit.ts';
import { caller2025, caller2026, resultOf, type Answer } from '../faces/wire.ts';

/** A kit with job tools, MCP and REST on one listener, as a gateway has them. */
export interface JobSite {
  readonly kit: Kit;
  readonly url: string;
  /** Without a path. */
  readonly origin: string;
  /** Ends and starts both faces, as a restarted process would: sessions are gone, records are not. */
  readonly restart: () => Promise<void>;
}

export async function createJobSite(options: KitOptions = {}): Promise<JobSite> {
  const kit = await createKit({ ...options, face: { jobTools: 'on', ...options.face } });
  const makeFaces = () => ({
    mcp: createHttpFace(kit.options),
    rest: createRestFace(kit.options),
  });
  let faces = makeFaces();
  const server = createServer((req, res) => {
    const { mcp, rest } = faces;
    (rest.matches(pathOf(req)) ? rest : mcp).handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> =>
    void (await Promise.all([faces.mcp.close(), faces.rest.close()]));
  onTestFinished(async () => {
    await close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    kit,
    origin,
    url: `${origin}/mcp`,
    async restart() {
      await close();
      faces = makeFaces();
    },
  };
}

/** A host without Tasks, on whichever wire. */
export interface PlainHost {
  call(name: string, args?: JsonObject, how?: HostCall): Promise<JsonObject>;
  list(): Promise<readonly JsonObject[]>;
}

export interface HostCall {
  readonly signal?: AbortSignal;
  readonly meta?: JsonObject;
}

export const WIRES = ['2025-11-25', '2025-06-18', '2026-07-28'] as const;
export type Wire = (typeof WIRES)[number];

const toolsOf = (answer: Answer): readonly JsonObject[] =>
  resultOf(answer)['tools'] as readonly JsonObject[];

export async function plainHost(
  url: string,
  wire: Wire,
  {
    token,
    capabilities = {},
  }: { readonly token?: string | undefined; readonly capabilities?: JsonObject } = {
    token: 'alice',
  },
): Promise<PlainHost> {
  const caller =
    wire === '2026-07-28'
      ? caller2026(url, token, capabilities)
      : await caller2025(url, token, { version: wire, capabilities });
  return {
    call: async (name, args = {}, how = {}) => resultOf(await caller.tool(name, args, how)),
    list: async () => toolsOf(await caller.call('tools/list')),
  };
}

/** What an answer says of a job, for programs. */
export function factsOf(result: JsonObject): JsonObject {
  const facts = objectAt(objectAt(result, 'structuredContent'), 'longcall');
  if (!facts) throw new Error(`no handle: ${JSON.stringify(result)}`);
  return facts;
}

export const jobOf = (result: JsonObject): string => stringAt(factsOf(result), 'job') ?? '';

/** Every text of an answer, in order. */
export const textsOf = ({ content }: JsonObject): readonly string[] =>
  (content as readonly JsonObject[]).flatMap((block) => stringAt(block, 'text') ?? []);

/** Does what an answer says is to be done next, as a model would. */
export function follow(host: PlainHost, result: JsonObject): Promise<JsonObject> {
  const next = objectAt(factsOf(result), 'next');
  expect(next).toBeDefined();
  return host.call(stringAt(next, 'tool') ?? '', objectAt(next, 'arguments') ?? {});
}
