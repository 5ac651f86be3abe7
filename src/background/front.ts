import type { Duplex, Readable, Writable } from 'node:stream';
import { createDeferred } from '../kernel/deferred.ts';
import { createTraffic, type OpenRequest, type Traffic } from './traffic.ts';

/** A line of the engine that is longer than this is none. */
const LINE_BYTES_MAX = 64 * 1024 ** 2;
const NEWLINE = 0x0a;

export interface FrontOptions {
  /** The host's streams. */
  readonly input: Readable;
  readonly output: Writable;
  /** The engine, after the handshake. */
  readonly engine: Duplex;
  /** One line of JSON-RPC, with its end: what a request is told whose engine has gone. */
  answerLost(request: OpenRequest): string;
  /** Another engine, where this one went while nothing was owed to the host; nothing where there is none. */
  reconnect(): Promise<Duplex | undefined>;
}

/** Why a front has ended. `unanswered`: requests that were told that their engine has gone. */
export type FrontEnd =
  { readonly kind: 'host_left' } | { readonly kind: 'engine_left'; readonly unanswered: number };

/**
 * Passes lines between a host and the engine, as they are, until one of them leaves. What the host has not read yet is
 * not read from the engine, and the other way round. Of the engine only whole lines are passed on, so that its death in
 * the middle of one leaves the host nothing that is no message.
 */
export async function runFront(options: FrontOptions): Promise<FrontEnd> {
  const { input, output, answerLost } = options;
  const traffic = createTraffic();
  const host = createHostSide(input, output);
  for (let engine: Duplex | undefined = options.engine; engine;) {
    if ((await passLines({ host, engine, traffic })) === 'host') return { kind: 'host_left' };
    engine = await nextEngine(options, host, traffic);
  }
  const owed = traffic.owed();
  for (const request of owed) host.say(answerLost(request));
  await host.flushed();
  return { kind: 'engine_left', unanswered: owed.length };
}

/**
 * One that can go on where the last one went, unnoticed by the host: nothing was owed to it, and its session is no more
 * than what it began with. Otherwise the host has to see the end of its server, and to open another one.
 */
async function nextEngine(
  { reconnect }: FrontOptions,
  host: HostSide,
  { owed, isBetweenLines, opening }: Traffic,
): Promise<Duplex | undefined> {
  if (host.hasLeft() || owed().length > 0 || !isBetweenLines() || !opening.isAll())
    return undefined;
  const engine = await reconnect();
  if (!engine) return undefined;
  try {
    await opening.repeat(engine);
    return engine;
  } catch {
    engine.destroy(); // that one is gone, too
    return undefined;
  }
}

/** The host's streams, over one engine or several. */
interface HostSide {
  readonly input: Readable;
  readonly output: Writable;
  /** Whether it will read no more. */
  isDeaf(): boolean;
  hasLeft(): boolean;
  /** Called once it has left; the answer stops that. */
  onLeft(listener: () => void): () => void;
  say(line: string): void;
  flushed(): Promise<void>;
}

function createHostSide(input: Readable, output: Writable): HostSide {
  let isDeaf = false;
  let hasLeft = false;
  const listeners = new Set<() => void>();
  const leave = (): void => {
    hasLeft = true;
    for (const listener of Array.from(listeners)) listener();
  };
  const deaf = (): void => {
    isDeaf = true;
    leave();
  };
  for (const event of ['end', 'close', 'error'] as const) input.once(event, leave);
  output.on('error', deaf);
  output.once('close', deaf);
  return {
    input,
    output,
    isDeaf: () => isDeaf,
    hasLeft: () => hasLeft,
    onLeft(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    say: (line) => void (isDeaf || output.write(line)),
    flushed: () =>
      new Promise((resolve) => {
        if (isDeaf) return resolve();
        output.write('', () => resolve());
        output.once('error', () => resolve());
      }),
  };
}

interface Passing {
  readonly host: HostSide;
  readonly engine: Duplex;
  readonly traffic: Traffic;
}

/** Resolves when the engine has no more to say: after the host has left, or by itself. */
async function passLines({ host, engine, traffic }: Passing): Promise<'host' | 'engine'> {
  const gone = createDeferred<void>();
  const stopUp = passUp({ host, engine, traffic });
  passDown({ host, engine, traffic });
  const hangUp = (): void => void (host.isDeaf() ? engine.destroy() : engine.end());
  const offLeft = host.onLeft(hangUp);
  if (host.hasLeft()) hangUp();
  engine.on('error', gone.resolve);
  engine.once('end', gone.resolve);
  engine.once('close', gone.resolve);
  await gone.promise;
  stopUp();
  offLeft();
  engine.destroy();
  if (!host.hasLeft()) return 'engine';
  await host.flushed();
  return 'host';
}

/** From the host to the engine; the answer stops it. */
function passUp({ host: { input }, engine, traffic }: Passing): () => void {
  const onDrain = (): void => void input.resume();
  const onData = (chunk: Buffer | string): void => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    traffic.hostSaid(bytes);
    if (!engine.destroyed && !engine.write(bytes)) input.pause();
  };
  engine.on('drain', onDrain);
  input.on('data', onData);
  input.resume();
  return () => {
    engine.off('drain', onDrain);
    input.off('data', onData);
    input.pause();
  };
}

/** From the engine to the host, whole lines only. */
function passDown({ host, engine, traffic }: Passing): void {
  const { output } = host;
  const onDrain = (): void => void engine.resume();
  let held: Buffer[] = [];
  let heldBytes = 0;
  const pass = (lines: Buffer): void => {
    traffic.engineSaid(lines);
    if (!host.isDeaf() && !output.write(lines)) engine.pause();
  };
  output.on('drain', onDrain);
  engine.once('close', () => output.off('drain', onDrain));
  engine.on('data', (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      pass(
        held.length === 0
          ? chunk.subarray(0, end)
          : Buffer.concat([...held, chunk.subarray(0, end)]),
      );
      held = [];
      heldBytes = 0;
    }
    if (end < chunk.length) {
      held.push(chunk.subarray(end));
      heldBytes += chunk.length - end;
      if (heldBytes > LINE_BYTES_MAX) engine.destroy();
    }
  });
}
