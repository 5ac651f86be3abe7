import type { Readable, Writable } from 'node:stream';
import type { FaceOptions } from '../faces/mcp/face.ts';
import { createHttpFace } from '../faces/mcp/http-face.ts';
import { createStdioFace } from '../faces/mcp/stdio-face.ts';
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

export async function openHttpFront(options: FaceOptions, address: ListenAddress): Promise<Front> {
  const face = createHttpFace(options);
  const { clock, logger } = options;
  const listener = await listen({
    address,
    key: 'listen.mcp',
    connectionsMax: CONNECTIONS_MAX,
    clock,
    logger,
    handler: (request, response) => face.handler(request, response),
  });
  return {
    mcpUrl: `${listener.origin}/mcp`,
    closed: new Promise(() => undefined),
    async close(whileAnswering) {
      listener.stopAccepting();
      await whileAnswering();
      await face.close();
      await listener.close(LAST_ANSWERS_MS);
    },
  };
}

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
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
