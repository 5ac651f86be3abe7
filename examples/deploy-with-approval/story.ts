// A deploy waits for a yes, through a death of its server; the yes reaches it, and it deploys once.
import { client2026, pollUntil, type Body } from '../demo/clients.ts';
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
const isAsking = (task: Body): boolean => task['status'] === 'input_required';
const deedsBeginning = (word: string): number =>
  place.deeds().filter((line) => line.startsWith(word)).length;

scene('A deploy is asked for, and asks a person');
const first = await startServer(SERVER, env);
let host = client2026(first.url, place.token());
const call = { name: 'deploy', arguments: { version: 'v2' } };
const taskId = idOf(await host.request('tools/call', call));
const asking = await pollUntil(() => host.request('tasks/get', { taskId }), isAsking);
const questions = asking['inputRequests'] as Record<string, { params: { message: string } }>;
const [key = '', question] = Object.entries(questions)[0] ?? [];
say(`   it asks: ${question?.params.message ?? ''}`);

scene('The server dies while it waits (SIGKILL), and is started again');
await first.kill();
const second = await startServer(SERVER, env);
host = client2026(second.url, place.token());

scene('The person says yes, hours later for all we know');
const answer = { action: 'accept', content: { approved: true, window: 'now' } };
await host.request('tasks/update', { taskId, inputResponses: { [key]: answer } });
const done = await pollUntil(() => host.request('tasks/get', { taskId }), hasEnded);
expect(textOf(done) === 'v2 is in production', `the answer is "${textOf(done)}"`);
expect(deedsBeginning('built') === 1, 'it was built once, before the question');
expect(deedsBeginning('deployed') === 1, 'and deployed once, after the answer');

scene('Another one is declined');
const next = idOf(await host.request('tools/call', { ...call, arguments: { version: 'v3' } }));
const again = await pollUntil(() => host.request('tasks/get', { taskId: next }), isAsking);
const [nextKey = ''] = Object.keys(again['inputRequests'] as object);
const inputResponses = { [nextKey]: { action: 'decline' } };
await host.request('tasks/update', { taskId: next, inputResponses });
const left = await pollUntil(() => host.request('tasks/get', { taskId: next }), hasEnded);
expect(textOf(left) === 'v3 was not deployed', `the answer is "${textOf(left)}"`);
expect(deedsBeginning('deployed') === 1, 'nothing was deployed for it');
await second.kill();
