import { Agent, request, type IncomingMessage } from 'node:http';

/** One HTTP exchange to repeat. */
export interface Shot {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoadOptions {
  readonly callers: number;
  readonly durationMs: number;
  /** The n-th request of the whole run. */
  readonly shot: (n: number) => Shot;
  /** Throws when an answer is not what it should be: a fast wrong answer is no result. */
  readonly check: (answer: string) => void;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Sends one request over a kept-alive connection and reads the whole answer. */
export function exchange(agent: Agent, { url, headers, body }: Shot): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': length },
    });
    sent.once('response', (response) => void bodyOf(response).then(resolve, reject));
    sent.once('error', reject);
    sent.end(body);
  });
}

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** Closed-loop load: each caller sends the next request when it has its answer. */
export async function load({ callers, durationMs, shot, check }: LoadOptions): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const times: number[] = [];
  const startedAt = performance.now();
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - startedAt < durationMs) {
      const begun = performance.now();
      check(await exchange(agent, shot(sent++)));
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const tookMs = performance.now() - startedAt;
  agent.destroy();
  times.sort((a, b) => a - b);
  return {
    perSecond: (times.length * 1000) / tookMs,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    count: times.length,
  };
}
