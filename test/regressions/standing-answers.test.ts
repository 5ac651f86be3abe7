import { expect, test } from 'vitest';
import { createPrincipal, type Principal } from '../../src/identity/principal.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import { answered } from '../runtime/receiving-side.ts';
import { createKit, moreTokens, tool } from '../faces/face-kit.ts';
import { caller2025, caller2026, readSse, resultOf } from '../faces/wire.ts';
import { verifies } from '../requirements/verifies.ts';

const dora = (scopes: readonly string[]): Principal =>
  createPrincipal({ issuer: 'i', tenant: 'acme', subject: 'dora', method: 'token', scopes });

/** A task of Dora's, and every kind of stream on which she could read how it ends. */
async function streamsOfDora() {
  moreTokens.set('dora', dora(['*']));
  const clock = createManualClock();
  const kit = await createKit({ tools: [tool('gated')], face: { clock } });
  const { url } = await kit.http();
  const session = await caller2025(url, 'dora');
  const modern = caller2026(url, 'dora');
  const taskId = String(resultOf(await modern.tool('gated'))['taskId']);
  const job = await kit.gate.next();
  const listened = await modern.open('subscriptions/listen', {
    notifications: { taskIds: [taskId] },
  });
  const waited = await session.open('tasks/result', { taskId });
  const streams = [listened, waited].map((response) => {
    if (!response.body) throw new Error('no stream');
    return readSse(response.body);
  });
  await streams[0]?.message(({ method }) => method === 'notifications/tasks');
  return { kit, job, streams, lookAtCredentials: () => clock.advance(1_000) };
}

verifies('T36', 'a stream ends with the credential that was taken back', async () => {
  const { kit, job, streams, lookAtCredentials } = await streamsOfDora();
  moreTokens.delete('dora');
  lookAtCredentials();
  const left = await Promise.all(
    streams.map((stream) => stream.rest().catch(() => 'cut' as const)),
  );
  expect(left.every((what) => what === 'cut' || what.length === 0)).toBe(true);
  kit.gate.end(job, answered('secret'));
});

test('a stream ends when its credential may do less than when it was opened', async () => {
  const { streams, lookAtCredentials } = await streamsOfDora();
  moreTokens.set('dora', dora(['task.list']));
  lookAtCredentials();
  await Promise.all(streams.map((stream) => stream.rest().catch(() => 'cut')));
});

test('a stream whose credential still counts goes on', async () => {
  const { kit, job, streams, lookAtCredentials } = await streamsOfDora();
  lookAtCredentials();
  lookAtCredentials();
  kit.gate.end(job, answered('report'));
  const told = await Promise.all(
    streams.map((stream) =>
      stream.message((message) => JSON.stringify(message).includes('report')),
    ),
  );
  expect(told).toHaveLength(2);
});

test('a question goes only to a session whose credential may answer it', async () => {
  moreTokens.set('reader', {
    ...dora(['task.read', 'task.result']),
  });
  moreTokens.set('dora', dora(['*']));
  const kit = await createKit();
  const { url } = await kit.http();
  const reader = await caller2025(url, 'reader');
  const onReader = await reader.listen();
  const session = await caller2025(url, 'dora');
  const created = resultOf(await session.tool('asks', {}, { task: {} }));
  const { taskId } = created['task'] as { taskId: string };
  const waited = await session.open('tasks/result', { taskId });
  if (!waited.body) throw new Error('no stream');
  const question = await readSse(waited.body).message(
    ({ method }) => method === 'elicitation/create',
  );
  expect(question).toMatchObject({ params: { message: 'go on?' } });
  await onReader.cancel();
});
