// The whole story in under a minute, unattended, on real processes. `npm run demo`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client2025, client2026, pollUntil, type Body } from './clients.ts';
import { cli, startGateway } from './gateway-process.ts';

const say = (words: string): void => void process.stdout.write(`${words}\n`);
const step = (title: string): void => say(`\n== ${title}`);

function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(`the demo expected: ${what}`);
  say(`   ✓ ${what}`);
}

const firstText = (result: Body): string =>
  (result['content'] as readonly { text?: string }[] | undefined)?.[0]?.text ?? '';
const ended = (task: Body): boolean =>
  !['working', 'input_required'].includes(task['status'] as string);
const idOf = (task: Body): string => task['taskId'] as string;

const work = mkdtempSync(join(tmpdir(), 'longcall-demo-'));
writeFileSync(join(work, 'record.log'), '');
const data = join(work, 'data');
const record = join(work, 'record.log');
const recorded = (): readonly string[] => readFileSync(record, 'utf8').split('\n');

let gateway = await startGateway(data, record);
process.once('exit', () => gateway.child.kill('SIGKILL'));
const token = readFileSync(join(data, 'local-token'), 'utf8').trim();

step('A slow call, asked for by hosts of both generations');
let old = await client2025(gateway.url, token);
let modern = client2026(gateway.url, token);
const created = await old.request('tools/call', {
  name: 'export_report',
  arguments: { month: 'May' },
  task: {},
});
const oldTask = created['task'] as Body;
const newTask = await modern.request('tools/call', {
  name: 'export_report',
  arguments: { month: 'June' },
});
say(`   2025-11-25 got the handle ${idOf(oldTask)}`);
say(`   2026-07-28 got the handle ${idOf(newTask)}`);
const payment = await modern.request('tools/call', {
  name: 'pay',
  arguments: { invoice: 'inv_42' },
});
await pollUntil(
  async () => ({ lines: recorded() }),
  (seen) => (seen['lines'] as readonly string[]).some((line) => line.startsWith('pay:')),
);
say('   and a payment is under way: charged, but not answered yet');

step('The gateway dies in the middle of it (SIGKILL) and is started again');
await gateway.kill();
gateway = await startGateway(data, record);
old = await client2025(gateway.url, token);
modern = client2026(gateway.url, token);

step('Both hosts collect their results by the ids they had');
const oldResult = await old.request('tasks/result', { taskId: idOf(oldTask) });
expect(firstText(oldResult).includes('May'), `2025-11-25 reads "${firstText(oldResult)}"`);
const newDone = await pollUntil(
  () => modern.request('tasks/get', { taskId: idOf(newTask) }),
  ended,
);
const newText = firstText(newDone['result'] as Body);
expect(newText.includes('June'), `2026-07-28 reads "${newText}"`);

step('The payment is not sent again: its fate is unknown, and that is what longcall says');
const paid = await pollUntil(() => modern.request('tasks/get', { taskId: idOf(payment) }), ended);
const error = paid['error'] as { message: string; data: { reason: string } };
expect(error.data.reason === 'outcome_unknown', `the task failed with "${error.message}"`);
expect(
  recorded().filter((line) => line.startsWith('pay:')).length === 1,
  'the invoice was charged exactly once',
);
say(
  (await cli(data, 'ops', 'list', '--state', 'unknown', '--no-color'))
    .replace(/^/gm, '   ')
    .trimEnd(),
);

step('A tool that asks a person in the middle');
const deploy = await modern.request('tools/call', { name: 'deploy', arguments: { version: 'v2' } });
const asking = await pollUntil(
  () => modern.request('tasks/get', { taskId: idOf(deploy) }),
  (task) => task['status'] === 'input_required',
);
const [key, question] =
  Object.entries(asking['inputRequests'] as Record<string, { params: { message: string } }>)[0] ??
  [];
say(`   it asks: ${question?.params.message ?? ''}`);
const inputResponses = { [key ?? '']: { action: 'accept', content: { approved: true } } };
await modern.request('tasks/update', { taskId: idOf(deploy), inputResponses });
const deployed = await pollUntil(
  () => modern.request('tasks/get', { taskId: idOf(deploy) }),
  ended,
);
expect(
  firstText(deployed['result'] as Body) === 'deployed v2',
  'the answer went up, and it deployed v2',
);

step('A cancel that stops the work, not only the record');
const crunching = await modern.request('tools/call', { name: 'crunch', arguments: {} });
const ticks = (): number => recorded().filter((line) => line.startsWith('crunch')).length;
await pollUntil(
  async () => ({ ticks: ticks() }),
  (seen) => (seen['ticks'] as number) >= 2,
);
await modern.request('tasks/cancel', { taskId: idOf(crunching) });
const cancelled = await pollUntil(
  () => modern.request('tasks/get', { taskId: idOf(crunching) }),
  ended,
);
const ticksAtCancel = ticks();
await pollUntil(
  async () => ({ at: Date.now() }),
  (
    (start) => (seen: Body) =>
      (seen['at'] as number) - start > 2500
  )(Date.now()),
);
expect(
  cancelled['status'] === 'cancelled' && ticks() === ticksAtCancel,
  'it is cancelled, and no second was counted since',
);

step('What the operator sees');
say((await cli(data, 'tasks', 'list', '--no-color')).replace(/^/gm, '   ').trimEnd());

await gateway.kill();
rmSync(work, { recursive: true, force: true });
say('\nDone. Every line above came from real processes.');
