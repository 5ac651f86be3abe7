// One payment goes well. Another is cut off after the money is gone: nobody knows, and nobody pays twice.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { client2026, pollUntil } from '../demo/clients.ts';
import {
  createPlace,
  expect,
  hasEnded,
  idOf,
  say,
  scene,
  startServer,
  textOf,
} from '../stage/stage.ts';

const SERVER = new URL('server.ts', import.meta.url);
const LONGCALL = fileURLToPath(new URL('../../bin/longcall.js', import.meta.url));
const place = createPlace();
const charged = (invoice: string): number =>
  place.deeds().filter((line) => line === `charged /charges/${invoice}`).length;

const bank = await startServer(new URL('bank.ts', import.meta.url), {
  DEEDS: place.log,
  ANSWER_MS: '1500',
});
const env = { DATA: place.data, BANK: bank.url };
const first = await startServer(SERVER, env);
let host = client2026(first.url, place.token());
const pay = async (invoice: string): Promise<string> =>
  idOf(await host.request('tools/call', { name: 'pay_invoice', arguments: { invoice } }));
const end = (taskId: string) => pollUntil(() => host.request('tasks/get', { taskId }), hasEnded);

scene('An invoice is paid, by a host that is nervous and asks three times');
const tries = [await pay('inv_1'), await pay('inv_1'), await pay('inv_1')];
const paid = await end(tries[0] ?? '');
expect(textOf(paid) === '{"receipt":"rcp_1"}', `the receipt is ${textOf(paid)}`);
expect(new Set(tries).size === 1, 'three calls with one key were one call');
expect(charged('inv_1') === 1, 'the bank has charged it once');

scene('Another payment: the bank has charged, and the server dies before it hears of it (SIGKILL)');
const taskId = await pay('inv_2');
await pollUntil(
  () => Promise.resolve({}),
  () => charged('inv_2') === 1,
);
await first.kill();
const second = await startServer(SERVER, env);
host = client2026(second.url, place.token());
const lost = await end(taskId);
const error = lost['error'] as { message: string; data: { reason: string } };
expect(error.data.reason === 'outcome_unknown', `the task says: ${error.message}`);
expect(charged('inv_2') === 1, 'the bank has charged it once, and was asked nothing more');

scene('What the operator sees');
const flags = ['--data', place.data, '--no-color'];
const seen = spawnSync(
  process.execPath,
  [LONGCALL, 'ops', 'list', '--state', 'unknown', ...flags],
  {
    encoding: 'utf8',
  },
);
say(seen.stdout.trimEnd().replace(/^/gm, '   '));
expect(
  seen.stdout.includes('pay_invoice'),
  'the payment stands there as unknown, for a person to look',
);
await Promise.all([second.kill(), bank.kill()]);
