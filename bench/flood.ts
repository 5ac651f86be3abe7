// What one caller's flood costs another: `npm run bench:flood`, `npm run bench:flood -- --quick`
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exchange } from './load.ts';
import { serve } from './processes.ts';
import { median, printLine, printMachine } from './report.ts';
import { target2026, type Target } from './targets.ts';

const QUICK = process.argv.includes('--quick');
const FLOOD = QUICK ? 1_000 : 10_000;
const FLOODERS = 64;
const POLLERS = 100;
const POLL_EVERY_MS = 50;
const POLL_FOR_MS = QUICK ? 1_000 : 10_000;
const ROUNDS = QUICK ? 5 : 25;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const data = mkdtempSync(join(tmpdir(), 'longcall-flood-'));
mkdirSync(data, { recursive: true, mode: 0o700 });
const served = await serve([
  here('../bin/longcall.js'),
  'gateway',
  '--config',
  here('flood.yaml'),
  '--data',
  data,
  '--listen',
  '127.0.0.1:0',
  '--admin',
  '127.0.0.1:0',
]);
const token = readFileSync(join(data, 'local-token'), 'utf8').trim();
const other = target2026('the other', served.url, token);
const flooder = target2026('the flooder', served.url, undefined);
const agent = new Agent({ keepAlive: true, maxSockets: FLOODERS + POLLERS });
let sent = 0;

interface Timed {
  readonly ms: number;
  readonly answer: string;
}

async function timed(
  target: Target,
  method: string,
  params: Record<string, unknown>,
): Promise<Timed> {
  const begun = performance.now();
  const answer = await exchange(agent, target.shot(method, params, (sent += 1)));
  return { ms: performance.now() - begun, answer };
}

const create = (target: Target): Promise<Timed> =>
  timed(target, 'tools/call', { name: 'quick', arguments: {} });

/** The median of as many calls as rounds, one after the other. */
async function medianOf(call: () => Promise<Timed>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ms, answer } = await call();
    if (!answer.includes('"result"')) throw new Error(`not an answer: ${answer.slice(0, 300)}`);
    times.push(ms);
  }
  return median(times);
}

interface Flood {
  readonly done: Promise<void>;
  readonly seen: { taken: number; refused: number };
}

/** One caller creates long tasks as fast as it can; what is above its limit is refused. */
function startFlood(): Flood {
  const seen = { taken: 0, refused: 0 };
  let left = FLOOD;
  const pour = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { answer } = await timed(flooder, 'tools/call', { name: 'park', arguments: {} });
      if (answer.includes('"capacity"')) seen.refused += 1;
      else seen.taken += 1;
    }
  };
  return { seen, done: Promise.all(Array.from({ length: FLOODERS }, pour)).then(() => undefined) };
}

printMachine(ROUNDS);
const aloneMs = await medianOf(() => create(other));
const flood = startFlood();
const besideMs = await medianOf(() => create(other));
await flood.done;
printLine(
  `\na flood of ${FLOOD} creates by one caller, ${FLOODERS} at once, against a limit of 32`,
);
printLine(`  taken ${flood.seen.taken}, refused with a hint ${flood.seen.refused}`);
printLine(
  `  another's call, answered: p50 ${aloneMs.toFixed(2)} ms alone, ${besideMs.toFixed(2)} ms beside it`,
);
printLine(`  ratio ${(besideMs / aloneMs).toFixed(2)}`);

const { answer } = await timed(other, 'tools/call', { name: 'park', arguments: {} });
const taskId = /"taskId":"([^"]+)"/.exec(answer)?.[1] ?? '';
const polls = { answered: 0, turnedAway: 0 };
const readAloneMs = await medianOf(() => timed(other, 'tasks/get', { taskId }));
const endAt = performance.now() + POLL_FOR_MS;
const pollers = Array.from({ length: POLLERS }, async () => {
  while (performance.now() < endAt) {
    const read = await timed(other, 'tasks/get', { taskId });
    if (read.answer.includes('"status_reads"')) polls.turnedAway += 1;
    else polls.answered += 1;
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
});
await new Promise((resolve) => setTimeout(resolve, POLL_FOR_MS / 2));
const callBesidePollsMs = await medianOf(() => create(other));
await Promise.all(pollers);
printLine(
  `\n${POLLERS} pollers of one person every ${POLL_EVERY_MS} ms for ${POLL_FOR_MS / 1000} s`,
);
printLine(`  answered ${polls.answered}, turned away with 429 ${polls.turnedAway}`);
printLine(`  one read alone: p50 ${readAloneMs.toFixed(2)} ms`);
printLine(
  `  a call beside the pollers: p50 ${callBesidePollsMs.toFixed(2)} ms, ratio ${(callBesidePollsMs / aloneMs).toFixed(2)}`,
);

agent.destroy();
await served.stop();
rmSync(data, { recursive: true, force: true });
