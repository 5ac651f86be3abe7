import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathOf, type HttpRoute } from '../faces/http-route.ts';
import { createHttpFace } from '../faces/mcp/http-face.ts';
import { refuse } from '../faces/mcp/http/answer.ts';
import { createRestFace } from '../faces/rest/rest-face.ts';
import { LongcallError } from '../kernel/errors.ts';
import { messageOf } from '../kernel/logger.ts';
import type { RequestIdentities } from '../library/identities.ts';
import type { ServerSource } from '../library/servers.ts';
import type { StdioStreams } from '../library/tasks.ts';
import { RPC_CODES } from '../protocol/names.ts';
import { openStdioFront, type Front } from './front.ts';
import { endWork } from './receiving-side.ts';
import { startServing, type Serving, type TasksFoundation } from './tasks-serving.ts';

export type LifeState =
  | { readonly kind: 'waiting' | 'closed' }
  | { readonly kind: 'serving'; readonly serving: Serving }
  | { readonly kind: 'failed'; readonly problem: string };

/** From the first word of what is to be served to the end of it all. */
export interface TasksLife {
  state(): LifeState;
  /** Begins to serve; once. Throws LONGCALL_LIBRARY_USAGE where something else is served already. */
  begin(source: ServerSource): Promise<Serving>;
  /** Rejects where nothing was given to serve. */
  serving(): Promise<Serving>;
  /** Answers HTTP requests with what is served. */
  handler(request: IncomingMessage, response: ServerResponse): void;
  stdio(streams: StdioStreams): Promise<Front>;
}

export interface LifeOptions extends TasksFoundation {
  /** Where the author's own function tells who asks. */
  readonly identities?: RequestIdentities;
}

export function createTasksLife(options: LifeOptions): TasksLife {
  const { teardown, clock, logger } = options;
  let state: LifeState = { kind: 'waiting' };
  let begun: { readonly source: ServerSource; readonly serving: Promise<Serving> } | undefined;
  const fronts: Pick<Front, 'close'>[] = [];

  const start = async (source: ServerSource): Promise<Serving> => {
    try {
      const serving = await startServing(options, source);
      teardown.add('work', (graceMs) =>
        closeFronts(fronts, () => endWork(serving.receiving, clock, graceMs)),
      );
      teardown.add('state', () => void (state = { kind: 'closed' }));
      state = { kind: 'serving', serving };
      return serving;
    } catch (error) {
      state = { kind: 'failed', problem: messageOf(error) };
      logger.error('tasks.not_serving', { problem: state.problem });
      throw error;
    }
  };
  const serving = (): Promise<Serving> =>
    begun?.serving ?? Promise.reject(notServing('there is nothing to serve yet'));
  const httpFace = createOnce(async () => {
    const { faceOptions } = await serving();
    const rest = createRestFace(faceOptions);
    const mcp: HttpRoute = { ...createHttpFace(faceOptions), matches: () => true };
    fronts.push(frontOf(rest), frontOf(mcp));
    return [rest, mcp];
  });
  return {
    state: () => state,
    begin(source) {
      if (begun && begun.source !== source)
        throw notServing('another server is served already; create a second one with its own data');
      begun ??= { source, serving: start(source) };
      begun.serving.catch(() => undefined); // told by `ready`, by the log and by each answer
      return begun.serving;
    },
    serving,
    handler(request, response) {
      answer({ request, response }, httpFace, options.identities).catch((error: unknown) => {
        logger.error('tasks.request_failed', { problem: messageOf(error) });
        const message = 'the server is not ready to answer';
        refuse(response, { code: RPC_CODES.internalError, message }, { status: 503 });
      });
    },
    async stdio(streams) {
      const front = openStdioFront((await serving()).faceOptions, streams);
      fronts.push(front);
      return front;
    },
  };
}

const notServing = (problem: string): LongcallError =>
  new LongcallError('LONGCALL_LIBRARY_USAGE', problem, {
    hint: 'call tasks.handler(…) or tasks.stdio(…)',
  });

function createOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

interface Exchange {
  readonly request: IncomingMessage & { readonly originalUrl?: unknown };
  readonly response: ServerResponse;
}

async function answer(
  { request, response }: Exchange,
  routes: () => Promise<readonly HttpRoute[]>,
  identities: RequestIdentities | undefined,
): Promise<void> {
  const faces = await routes();
  await identities?.admit(request);
  // Express and its like shorten `url` below the path that they mount at.
  if (typeof request.originalUrl === 'string') request.url = request.originalUrl;
  const path = pathOf(request);
  faces.find(({ matches }) => matches(path))?.handler(request, response);
}

const frontOf = (face: Pick<HttpRoute, 'close'>): Pick<Front, 'close'> => ({
  async close(whileAnswering) {
    await whileAnswering();
    await face.close();
  },
});

/** Callers are let go only after the work that they wait for has had its time, so that they get its answers. */
async function closeFronts(
  fronts: readonly Pick<Front, 'close'>[],
  work: () => Promise<void>,
): Promise<void> {
  const ended = work();
  await Promise.all([ended, ...fronts.map((front) => front.close(() => ended))]);
}
