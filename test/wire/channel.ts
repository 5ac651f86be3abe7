/** Any JSON-RPC message, unchecked: checks look at what is really there. */
export type Message = Readonly<Record<string, unknown>>;

/** How long a check waits for something that should come; `LONGCALL_WIRE_PATIENCE_MS` overrides it. */
export const patienceMs = (): number => Number(process.env['LONGCALL_WIRE_PATIENCE_MS'] ?? 8_000);

/** The answer to one request, as it comes in: one JSON body, a stream of messages, or what comes over a pipe. */
export interface Channel {
  /** `NO_HTTP` where there is none. */
  readonly status: number;
  readonly headers: Headers;
  readonly isStream: boolean;
  /** Every message so far. */
  readonly received: readonly Message[];
  /** Resolves with the first message that matches, come or to come; rejects when the answer ends without one. */
  waitFor(matches: (message: Message) => boolean, what: string): Promise<Message>;
  /** Resolves when the answer has ended, by whichever side. */
  readonly ended: Promise<void>;
  /** Goes away without waiting. */
  close(): void;
}

/** The HTTP status of what came without HTTP. */
export const NO_HTTP = 0;

/** Messages as they come in, for whoever waits for one of them. */
export interface Mailbox {
  readonly received: readonly Message[];
  take(message: Message): void;
  /** Nothing comes any more; `why` is told to who still waits. */
  end(why?: string): void;
  readonly waitFor: Channel['waitFor'];
}

export function createMailbox(): Mailbox {
  const received: Message[] = [];
  const watchers = new Set<() => void>();
  let over: string | undefined;
  const tell = (): void => watchers.forEach((watch) => watch());
  return {
    received,
    take(message) {
      received.push(message);
      tell();
    },
    end(why = '') {
      over ??= why;
      tell();
    },
    waitFor: (matches, what) =>
      new Promise((resolve, reject) => {
        const stop = (): void => {
          clearTimeout(timer);
          watchers.delete(look);
        };
        const look = (): void => {
          const found = received.find(matches);
          if (!found && over === undefined) return;
          stop();
          if (found) resolve(found);
          else
            reject(
              new Error(
                `the answer ended without ${what}; it had ${JSON.stringify(received)}${over ?? ''}`,
              ),
            );
        };
        const timer = setTimeout(() => {
          stop();
          reject(new Error(`waited in vain for ${what}; got ${JSON.stringify(received)}`));
        }, patienceMs());
        watchers.add(look);
        look();
      }),
  };
}

/** Sends one request and hands out its answer as soon as there are headers. */
export async function openChannel(url: string, init: RequestInit): Promise<Channel> {
  const leave = new AbortController();
  const signal = init.signal ? AbortSignal.any([init.signal, leave.signal]) : leave.signal;
  const response = await fetch(url, { ...init, signal });
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const { received, waitFor, take, end } = createMailbox();
  const ended = readMessages(response, isStream, take).finally(() => end());
  return {
    status: response.status,
    headers: response.headers,
    isStream,
    received,
    ended,
    close: () => leave.abort(),
    waitFor,
  };
}

/** Reads the body to its end; one that breaks off or is closed has ended too. */
async function readMessages(
  response: Response,
  isStream: boolean,
  take: (message: Message) => void,
): Promise<void> {
  try {
    if (isStream && response.body) await readEvents(response.body, take);
    else take(JSON.parse(await response.text()) as Message);
  } catch {
    // No JSON, or the connection is gone: there is no further message.
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  take: (message: Message) => void,
): Promise<void> {
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split(/\r?\n\r?\n/);
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trim())
        .join('\n');
      // Comments keep the stream alive, and an event without data primes it.
      if (data !== '') take(JSON.parse(data) as Message);
    }
  }
}
