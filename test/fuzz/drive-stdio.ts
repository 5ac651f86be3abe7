import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { mutateBytes, mutateMessage, mutateText, oddText } from './json-mutations.ts';
import { createSeededRandom } from './seeded-random.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Message } from './valid-messages.ts';
import { givenAway } from './verdict.ts';

const LINES_AT_ONCE = 25;
const PATIENCE_MS = 20_000;
/** Longer than what one message may be. */
const OVERSIZED_BYTES = 5 * 1024 ** 2;

/** One client over the stdin and stdout of a gateway. */
export interface StdioClient {
  /** Sends a request and resolves with its response. */
  request(message: Message): Promise<Message>;
  write(bytes: Buffer): Promise<void>;
  /** What was wrong with lines that came, so far. */
  readonly problems: readonly string[];
  /** Ids that were answered since the last time this was asked. */
  takeAnswered(): ReadonlySet<unknown>;
}

export function openStdioClient({ stdin, stdout }: ChildProcess): StdioClient {
  if (!stdin || !stdout) throw new Error('the process has no pipes');
  const waiting = new Map<unknown, (response: Message) => void>();
  const problems: string[] = [];
  let answered = new Set<unknown>();
  onLines(stdout, (line) => {
    const message = parse(line);
    const leak = givenAway(line, 'callers');
    if (message?.['jsonrpc'] !== '2.0')
      problems.push(`a line that is no message: ${line.slice(0, 300)}`);
    else if (leak !== undefined)
      problems.push(`a line that gives away ${leak}: ${line.slice(0, 300)}`);
    else if (message['method'] === undefined) {
      answered.add(message['id']);
      waiting.get(message['id'])?.(message);
      waiting.delete(message['id']);
    }
  });
  const write = (bytes: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      stdin.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  return {
    problems,
    write,
    takeAnswered() {
      const taken = answered;
      answered = new Set();
      return taken;
    },
    async request(message) {
      const { id } = message;
      const response = new Promise<Message>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`no answer to ${String(id)}`)),
          PATIENCE_MS,
        );
        waiting.set(id, (came) => {
          clearTimeout(timer);
          resolve(came);
        });
      });
      await write(Buffer.from(`${JSON.stringify(message)}\n`));
      return response;
    },
  };
}

/** By line feeds alone, as the protocol does; readline also breaks at characters that JSON may hold. */
function onLines(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  });
}

function parse(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}

export interface StdioRun {
  readonly client: StdioClient;
  readonly messages: readonly Message[];
  /** A request that always has an answer, to be sent with an id of its own. */
  readonly good: Message;
  readonly seed: number;
  readonly first: number;
  readonly count: number;
}

/** Writes so many lines; after every few of them a good request must still be answered. */
export async function driveStdio({
  client,
  messages,
  good,
  seed,
  first,
  count,
}: StdioRun): Promise<void> {
  const replay = (from: number): string => `lines from ${from} on; FUZZ_SEED=${seed}`;
  for (let index = first; index < first + count; index += LINES_AT_ONCE) {
    const lines = Array.from({ length: Math.min(LINES_AT_ONCE, first + count - index) }, (_, at) =>
      makeLine(messages, createSeededRandom(seed, index + at)),
    );
    await client.write(Buffer.concat(lines));
    const response = await client
      .request({ ...good, id: `good-${index}` })
      .catch((error: unknown) => {
        throw new Error(
          `${String(error)} (${replay(index)})\n${Buffer.concat(lines).toString().slice(0, 4_000)}`,
        );
      });
    if (response['result'] === undefined)
      throw new Error(`${JSON.stringify(response)} (${replay(index)})`);
    const [problem] = client.problems;
    if (problem !== undefined) throw new Error(`${problem} (${replay(index)})`);
  }
}

const LINE_FEED = Buffer.from('\n');

function makeLine(messages: readonly Message[], random: SeededRandom): Buffer {
  const message = random.pick(messages);
  const kind = random.below(100);
  if (random.chance(0.001))
    return Buffer.concat([Buffer.from(`{"a":"${'y'.repeat(OVERSIZED_BYTES)}"}`), LINE_FEED]);
  if (kind < 65) return Buffer.from(`${mutateMessage(message, random).replaceAll('\n', ' ')}\n`);
  if (kind < 75) return Buffer.from(`${mutateText(JSON.stringify(message), random)}\n`);
  if (kind < 85)
    return Buffer.concat([mutateBytes(Buffer.from(JSON.stringify(message)), random), LINE_FEED]);
  if (kind < 92) return Buffer.from(`${oddText(random)}\n`);
  if (kind < 96) return Buffer.concat([random.bytes(random.below(200)), LINE_FEED]);
  return Buffer.from(
    random.pick([
      '\n',
      '\r\n',
      '\u0000\n',
      '{}\n',
      '[]\n',
      '[[]]\n',
      ' \t \n',
      '\ufeff{}\n',
      '{"jsonrpc":"2.0"}\n',
    ]),
  );
}
