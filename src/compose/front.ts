import type { Readable, Writable } from 'node:stream';
import { pathOf, type HttpRoute } from '../faces/http-route.ts';
import type { FaceOptions } from '../faces/mcp/face.ts';
import { createHttpFace } from '../faces/mcp/http-face.ts';
import { createStdioFace } from '../faces/mcp/stdio-face.ts';
import { createRestFace } from '../faces/rest/rest-face.ts';
import type { ListenAddress } from '../gateway/config/config.ts';
import { localPrincipal } from '../identity/principal.ts';
import { listen } from './http-listener.ts';

const CONNECTIONS_MAX = 4096;
/** What streams that were told to end may still take. */
const LAST_ANSWERS_MS = 1_000;

/** Where callers come in. */
export interface Front {
  /** Absent over stdio. */
  readonly mcpUrl?: string;
  /** Resolves when the only caller that there can be has left; never over HTTP. */
  readonly closed: Promise<void>;
  /**
   * Ends it: no new connections from now on, then `whileAnswering` with the work still under way, then what is still
   * open is told to come back, and cut.
   */
  close(whileAnswering: () => Promise<void>): Promise<void>;
}

/** MCP, and beside it on the same listener what else callers can reach: the REST job API, and `others`. */
export async function openHttpFront(
  options: FaceOptions,
  address: ListenAddress,
  others: readonly HttpRoute[] = [],
): Promise<Front> {
  const face = createHttpFace(options);
  const routes = [createRestFace(options), ...others];
  const { clock, logger } = options;
  const listener = await listen({
    address,
    key: 'listen.mcp',
    connectionsMax: CONNECTIONS_MAX,
    clock,
    logger,
    handler(request, response) {
      const path = pathOf(request);
      const route = routes.find(({ matches }) => matches(path)) ?? face;
      route.handler(request, response);
    },
  });
  return {
    mcpUrl: `${listener.origin}/mcp`,
    closed: new Promise(() => undefined),
    async close(whileAnswering) {
      listener.stopAccepting();
      await whileAnswering();
      await Promise.all([face, ...routes].map((each) => each.close()));
      await listener.close(LAST_ANSWERS_MS);
    },
  };
}

/** Where nobody comes in, because everybody comes another way. */
export const NO_FRONT: Front = {
  closed: new Promise(() => undefined),
  close: (whileAnswering) => whileAnswering(),
};

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Two ways in that end together: neither takes anybody new while the work of both has its time. */
export function joinFronts(first: Front, second: Front): Front {
  return {
    ...first,
    closed: Promise.race([first.closed, second.closed]),
    close: (whileAnswering) => first.close(() => second.close(whileAnswering)),
  };
}

export function openStdioFront(options: FaceOptions, { input, output }: StdioStreams): Front {
  const face = createStdioFace({ ...options, input, output, principal: localPrincipal() });
  return {
    closed: face.closed,
    async close(whileAnswering) {
      await whileAnswering();
      await face.close();
    },
  };
}
