import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A way to a server that can be held up: bytes that are on their way to it are then read here, and seen by nobody else.
 * What it shows is the moment between a caller's write and its peer's read, which no process can be killed at exactly.
 */
export interface Relay {
  readonly port: number;
  /** Nothing is handed on from here on. */
  holdUp(): void;
  /** What was held up so far, as text. */
  heldUp(): string;
  /** Every connection ends, and no new one is taken. */
  close(): Promise<void>;
  /** Takes connections again, at the same port. */
  open(): Promise<void>;
}

/** Opens a relay on a free port, to a port that may change. */
export async function openRelay(target: () => number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isHolding = false;
  let held = '';

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(target(), '127.0.0.1');
    keep(near);
    keep(far);
    near.on('data', (chunk: Buffer) => {
      if (isHolding) held += chunk.toString('latin1');
      else far.write(chunk);
    });
    far.pipe(near);
    near.once('close', () => far.destroy());
    // While it holds, a peer that is gone looks like one that is busy.
    far.once('close', () => {
      if (!isHolding) near.destroy();
    });
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    holdUp: () => void (isHolding = true),
    heldUp: () => held,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
    async open() {
      [isHolding, held] = [false, ''];
      await listen(port);
    },
  };
}
