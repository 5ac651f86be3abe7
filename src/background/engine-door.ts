import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { messageOf, type Logger } from '../kernel/logger.ts';
import { writeFrame } from './frames.ts';
import { receiveRequest, type Credentials, type FrontRequest } from './handshake.ts';
import { closeSocketToOthers, prepareSocketPath, removeSocket } from './socket-place.ts';

/** How long a front may take for the handshake. */
const HANDSHAKE_MS = 10_000;
/** Windows of one user, and their commands. */
const CONNECTIONS_MAX = 1024;

/** Answers a request; `serve` also takes the connection over, and resolves when it is done with it. */
export interface EngineDesk {
  serve(request: FrontRequest, connection: FrontConnection): Promise<void>;
  status(): Promise<JsonObject>;
  /** Stops after the answer has left. */
  stop(body: JsonObject): Refusal | undefined;
}

export interface FrontConnection {
  readonly socket: Socket;
  /** Says yes: lines of MCP pass from here on. */
  accept(body: JsonObject): void;
  refuse(refusal: Refusal): void;
}

/** Why a front is not served. `again`: in a moment it will be, by another engine. */
export interface Refusal {
  readonly code: LongcallError['code'];
  readonly message: string;
  readonly hint: string;
  readonly again?: boolean;
}

export interface EngineDoorOptions {
  readonly path: string;
  readonly credentials: Credentials;
  readonly desk: EngineDesk;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where fronts and commands of this user come in. */
export interface EngineDoor {
  /** Connections that stand, those in the handshake too. */
  connectionCount(): number;
  /** New ones find nobody from now on. */
  stopAccepting(): void;
  /** Cuts what is still connected. */
  close(): Promise<void>;
}

/** Rejects with LONGCALL_SOCKET_UNSAFE or LONGCALL_DATA_UNUSABLE where it cannot listen. */
export async function openEngineDoor(options: EngineDoorOptions): Promise<EngineDoor> {
  const { path, logger } = options;
  const sockets = new Set<Socket>();
  // Half open: a host that has said all that it will may still be owed answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // it shows as the close
    void attend(options, socket).catch((thrown: unknown) => {
      logger.warn('engine.front_refused', { problem: messageOf(thrown) });
      socket.destroy();
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  prepareSocketPath(path);
  await listen(server, path);
  closeSocketToOthers(path);
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  let accepting = true;
  const stopAccepting = (): void => {
    if (!accepting) return;
    accepting = false;
    server.close();
    removeSocket(path);
  };
  return {
    connectionCount: () => sockets.size,
    stopAccepting,
    async close() {
      stopAccepting();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new LongcallError('LONGCALL_DATA_UNUSABLE', `cannot listen on ${path}: ${error.message}`, {
          cause: error,
          hint: 'name a data directory on a file system that takes sockets',
        }),
      ),
    );
    server.listen(path, resolve);
  });
}

async function attend(options: EngineDoorOptions, socket: Socket): Promise<void> {
  const { credentials, desk, clock } = options;
  const late = clock.after(HANDSHAKE_MS, () => socket.destroy());
  const request = await receiveRequest(socket, credentials).finally(() => late.cancel());
  const accept = (body: JsonObject): void => writeFrame(socket, { ok: true, ...body });
  const refuse = (refusal: Refusal): void => writeFrame(socket, { ok: false, ...refusal });
  if (request.purpose === 'serve') return desk.serve(request, { socket, accept, refuse });
  if (request.purpose === 'status') accept(await desk.status());
  else {
    const refusal = desk.stop(request.body);
    if (refusal) refuse(refusal);
    else accept({});
  }
  socket.end();
}
