import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '../fixtures/upstreams/launch.ts';
import type { Channel, Mailbox, Message } from './channel.ts';
import { createMailbox, NO_HTTP } from './channel.ts';

/** How long a server may take to start, before what it is asked counts as unanswered. */
const START_MS_MAX = 60_000;
/** How much of what a server says to people is kept, for the words of a failure. */
const SAID_MAX = 2_000;

/** A server that speaks over the pipes of its own process, as hosts start it. */
export interface Pipe {
  /** Sends one message and hands out what comes from then on; it has ended when the message has its response. */
  open(message: Message): Channel;
  /** Everything that comes from now on. */
  listen(): Channel;
  /** Ends the input, as a host that leaves, and waits until the process is gone. */
  stop(): Promise<void>;
}

/** Starts a server over pipes. A line of its output that is no JSON breaks the protocol, and every channel with it. */
export function startPipe({ command, args }: Command, env: NodeJS.ProcessEnv): Pipe {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const gone = once(child, 'exit');
  const mailboxes = new Set<Mailbox>();
  const started = Promise.race([
    once(child.stdout, 'data'),
    once(child.stdout, 'close'),
    untilListening(child.stderr),
    pause(START_MS_MAX, undefined, { ref: false }),
  ]);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-SAID_MAX)));
  const endAll = (): void => mailboxes.forEach((mailbox) => mailbox.end(`; on stderr: ${said}`));
  createInterface({ input: child.stdout })
    .on('line', (line) => {
      const message = parseLine(line);
      if (message) mailboxes.forEach((mailbox) => mailbox.take(message));
      else endAll();
    })
    .on('close', endAll);
  const send = (message: Message): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const listen = (close: () => void = () => undefined): Channel => {
    const mailbox = createMailbox();
    mailboxes.add(mailbox);
    const { received } = mailbox;
    const waitFor: Channel['waitFor'] = async (matches, what) => {
      await started;
      return mailbox.waitFor(matches, what);
    };
    const headers = new Headers();
    return {
      status: NO_HTTP,
      headers,
      isStream: true,
      received,
      waitFor,
      close,
      ended: gone.then(() => undefined),
    };
  };
  return {
    listen,
    open(message) {
      const { id, method } = message;
      const isResponse = (heard: Message): boolean =>
        heard['method'] === undefined && heard['id'] === id;
      const channel = listen(() => {
        // Over a pipe a subscription is ended by a cancel of it; there is nothing else to go away from.
        const isOpen = method === 'subscriptions/listen' && !channel.received.some(isResponse);
        if (isOpen) send({ method: 'notifications/cancelled', params: { requestId: id } });
      });
      send(message);
      if (method === undefined || id === undefined) return channel;
      const answered = channel.waitFor(isResponse, `the response to ${String(id)}`);
      return {
        ...channel,
        ended: answered.then(
          () => undefined,
          () => undefined,
        ),
      };
    },
    async stop() {
      child.stdin.end();
      await gone;
    },
  };
}

/** Gateways say so on stderr; other servers say nothing there. */
function untilListening(stderr: Readable): Promise<void> {
  return new Promise((resolve) => {
    stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('listening')) resolve();
    });
  });
}

function parseLine(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}
