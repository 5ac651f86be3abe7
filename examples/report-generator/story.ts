// A report is asked for, the server dies in the middle, and the report is ready all the same.
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
const place = createPlace();
const env = { DATA: place.data, DEEDS: place.log };
const count = (deed: string): number => place.deeds().filter((line) => line === deed).length;

scene('A report is asked for, and its handle is there at once');
const first = await startServer(SERVER, env);
let host = client2026(first.url, place.token());
const asked = { name: 'generate_report', arguments: { month: 'May' } };
const taskId = idOf(await host.request('tools/call', asked));
say(`   the handle: ${taskId}`);
await pollUntil(
  () => Promise.resolve({}),
  () => count('May: returns begun') === 1,
);

scene('The server dies in the second of four steps (SIGKILL), and is started again');
await first.kill();
const second = await startServer(SERVER, env);
host = client2026(second.url, place.token());

scene('The host reads the report by the handle that it had');
const done = await pollUntil(() => host.request('tasks/get', { taskId }), hasEnded);
expect(textOf(done).includes('"rows":1204'), `the report is ${textOf(done)}`);
expect(count('May: orders begun') === 1, 'the step that had finished was not done again');
expect(count('May: returns begun') === 2, 'the one that was cut off was begun again');
expect(count('May: returns done') === 1, 'and every step was finished once');
await second.kill();
