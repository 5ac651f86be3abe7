import type { OutgoingHttpHeaders } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import { LongcallError } from '../../kernel/errors.ts';
import type { HttpRoute } from '../http-route.ts';
import { createFace, type Face, type FaceOptions } from '../mcp/face.ts';
import { createOpenResponses } from '../mcp/http/open-responses.ts';
import { deliveryOf } from '../mcp/http/answer.ts';
import { admit, createDoor } from './door.ts';
import { JOB_ROUTES } from './job-routes.ts';
import { OPENAPI_PATH, openApiDocument } from './openapi.ts';
import { draining, PROBLEM_TYPE, problemOf, Refusal, refusalOf } from './problems.ts';
import { readQuery, readRequestBody } from './reading.ts';
import { defineRoute, type RestAnswer, type RestRoute } from './route.ts';
import { noQuerySchema } from './schemas.ts';

type Env = { readonly Bindings: HttpBindings };
type RestContext = Context<Env>;

const JOBS_PATH = '/jobs';

/** Nothing is kept, sniffed, framed or leaked to the next page. No CORS header, ever. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

const openApiRoute = (version: string): RestRoute =>
  defineRoute({
    method: 'GET',
    path: OPENAPI_PATH,
    operationId: 'describe',
    summary: 'This API as OpenAPI 3.1.',
    query: noQuerySchema,
    answers: {},
    refuses: [],
    handle: async () => ({ status: 200, document: openApiDocument(JOB_ROUTES, version) }),
  });

function write(
  context: RestContext,
  type: string,
  answer: Omit<RestAnswer, 'onDelivery'>,
): Response {
  const { status, document, headers } = answer;
  const all: OutgoingHttpHeaders = { ...HEADERS, ...headers };
  context.status(status as StatusCode);
  for (const [name, value] of Object.entries(all)) context.header(name, String(value));
  if (document === undefined) return context.body(null);
  context.header('content-type', type);
  return context.body(JSON.stringify(document));
}

type Serve = (route: RestRoute, context: RestContext) => Promise<Response>;

function createServe(face: Face): Serve {
  const door = createDoor(face);
  return async (route, context) => {
    const { incoming, outgoing } = context.env;
    if (face.closing.aborted) throw draining();
    const principal = door(incoming);
    const id = context.req.param('id') ?? '';
    admit(face, route, { principal, id });
    const answer = await route.handle({
      face,
      principal,
      id,
      query: readQuery(route, new URL(context.req.url)),
      body: await readRequestBody(route, incoming, face.maxBodyBytes),
      header: (name) => context.req.header(name),
      signal: context.req.raw.signal,
    });
    const { onDelivery } = answer;
    if (onDelivery) void deliveryOf(outgoing).then(onDelivery);
    return write(context, 'application/json', answer);
  };
}

const refusing = (words: string, status: number, headers: OutgoingHttpHeaders = {}): Refusal =>
  new Refusal(new LongcallError('LONGCALL_USAGE', words), { status, headers });

/** Methods by path, in the router's spelling. */
function methodsByPath(routes: readonly RestRoute[]): ReadonlyMap<string, readonly RestRoute[]> {
  const byPath = new Map<string, RestRoute[]>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    byPath.set(path, [...(byPath.get(path) ?? []), route]);
  }
  return byPath;
}

function createApp(face: Face, routes: readonly RestRoute[]): Hono<Env> {
  const app = new Hono<Env>();
  const serve = createServe(face);
  const door = createDoor(face);
  for (const [path, own] of methodsByPath(routes)) {
    const allow = own.map(({ method }) => method).join(', ');
    app.all(path, async (context) => {
      // HEAD is not served: it would record the read of a result for an answer that nobody gets.
      const route = own.find(({ method }) => method === context.req.method);
      if (route) return serve(route, context);
      door(context.env.incoming);
      throw refusing(`${context.req.method} is not served here`, 405, { allow });
    });
  }
  app.notFound((context) => {
    door(context.env.incoming);
    throw refusing('there is no such route; GET /openapi.json describes those that there are', 404);
  });
  app.onError((thrown, context) => {
    const problem = problemOf(refusalOf(face, thrown));
    return write(context, PROBLEM_TYPE, problem);
  });
  return app;
}

/** The REST job API at `/jobs`, for programs that are no MCP client, on the listener of MCP and behind the same door. */
export function createRestFace(options: FaceOptions): HttpRoute {
  const face = createFace(options);
  const routes = [...JOB_ROUTES, openApiRoute(options.product.version)];
  const answer = getRequestListener(createApp(face, routes).fetch, {
    overrideGlobalObjects: false,
  });
  const open = createOpenResponses(face.clock);
  return {
    matches: (path) =>
      path === JOBS_PATH || path.startsWith(`${JOBS_PATH}/`) || path === OPENAPI_PATH,
    handler(req, res) {
      open.enter(res);
      void answer(req, res);
    },
    async close() {
      face.close();
      await open.closed();
      await face.handles.settled();
    },
  };
}
