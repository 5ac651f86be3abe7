// What longcall costs: beside a bare node:http stub (the limit) and the official SDK v1 server with its in-memory
// task store (the peer), in one run. `npm run bench`, `npm run bench -- --quick`
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, type LoadResult, type Shot } from './load.ts';
import { prefill } from './prefill.ts';
import { serve, type Served } from './processes.ts';
import { printLine, printMachine, printTable, rowOf, median } from './report.ts';
import { once, target2025, target2026, type Target } from './targets.ts';
import { printWindows } from './windows.ts';

const QUICK = process.argv.includes('--quick');
const ROUNDS = QUICK ? 1 : 5;
const ROUND_MS = QUICK ? 500 : 2000;
const FEW = QUICK ? 100 : 1000;
const MANY = QUICK ? 2000 : 100_000;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'longcall-bench-'));

interface Gateway {
  readonly served: Served;
  readonly token: string;
  readonly ids: readonly string[];
}

async function gateway(name: string, stored: number): Promise<Gateway> {
  const data = join(work, name);
  mkdirSync(data, { mode: 0o700 });
  const ids = await prefill(data, stored);
  const listen = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
  const args = [
    here('../bin/longcall.js'),
    'gateway',
    '--config',
    here('longcall.yaml'),
    '--data',
    data,
    ...listen,
  ];
  const served = await serve(args);
  return { served, token: readFileSync(join(data, 'local-token'), 'utf8').trim(), ids };
}

/** One thing to measure on one server. */
interface Contender {
  readonly name: string;
  readonly shot: (n: number) => Shot;
}

const checkOk = (answer: string): void => {
  if (!answer.includes('"result"')) throw new Error(`not an answer: ${answer.slice(0, 300)}`);
};

/** Rounds are interleaved, so that a noisy moment of the machine hits every contender alike. */
async function compare(contenders: readonly Contender[], callers: number) {
  const rounds = contenders.map((): LoadResult[] => []);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, { shot }] of contenders.entries())
      rounds[index]?.push(await load({ callers, durationMs: ROUND_MS, shot, check: checkOk }));
  return contenders.map(({ name }, index) => rowOf(name, rounds[index] ?? []));
}

const plainCall = (target: Target): Contender => ({
  name: target.name,
  shot: (n) => target.shot('tools/call', { name: 'quick', arguments: {} }, n),
});
const create = (target: Target, task: boolean): Contender => ({
  name: target.name,
  shot: (n) =>
    target.shot(
      'tools/call',
      { name: 'park', arguments: {}, ...(task ? { task: { ttl: 3_600_000 } } : {}) },
      n,
    ),
});
const get = (target: Target, ids: readonly string[]): Contender => ({
  name: target.name,
  shot: (n) => target.shot('tasks/get', { taskId: ids[(n * 7919) % ids.length] ?? '' }, n),
});

const few = await gateway('few', FEW);
const many = await gateway('many', MANY);
const peer = await serve([here('peers/in-memory-v1.ts')]);
const limit = await serve([here('peers/stub.ts')]);
const direct = await serve([here('peers/upstream.ts'), '--http']);

const stub = await target2025('bare node:http stub', limit.url);
const v1 = await target2025('SDK v1 in-memory', peer.url);
const longcall2025 = await target2025('longcall 2025-11-25', few.served.url, few.token);
const longcall2026 = target2026('longcall 2026-07-28', few.served.url, few.token);

printMachine(ROUNDS);

const v1Task = (await once(v1, 'tools/call', { name: 'park', arguments: {}, task: {} })) as {
  task: { taskId: string };
};
const v1Ids = [v1Task.task.taskId];
const reads = await compare(
  [
    get(stub, ['x']),
    get(v1, v1Ids),
    get(longcall2025, few.ids),
    get(longcall2026, few.ids),
    get(
      await target2025(`longcall 2025-11-25, ${MANY} tasks`, many.served.url, many.token),
      many.ids,
    ),
    get(target2026(`longcall 2026-07-28, ${MANY} tasks`, many.served.url, many.token), many.ids),
  ],
  16,
);
printTable(`tasks/get, 16 callers, ${FEW} tasks stored unless said`, reads, v1.name);

for (const callers of [1, 64]) {
  const creates = await compare(
    [create(stub, true), create(v1, true), create(longcall2025, true), create(longcall2026, false)],
    callers,
  );
  printTable(
    `create (durable in longcall, in memory in the peer), ${callers} callers`,
    creates,
    v1.name,
  );
}

const upstream = await target2025('the upstream, called directly', direct.url);
const plain = await compare(
  [plainCall(upstream), plainCall(longcall2025), plainCall(longcall2026)],
  1,
);
printTable('plain call, 1 caller: passthrough of a read', plain, upstream.name);
const directMs = plain[0]?.p50Ms ?? Number.NaN;
for (const row of plain.slice(1))
  printLine(`  overhead p50 of ${row.name}: ${(row.p50Ms - directMs).toFixed(2)} ms`);

const starts: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const started = await gateway(`start-${round}`, 0);
  starts.push(started.served.startMs);
  await started.served.stop();
}
printLine(
  `\nstart, from spawn to listening (empty store, upstream over stdio): ${median(starts).toFixed(0)} ms`,
);

await printWindows();

for (const served of [few.served, many.served, peer, limit, direct]) await served.stop();
rmSync(work, { recursive: true, force: true });
