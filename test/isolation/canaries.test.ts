import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAdminDoor } from '../crash/admin-door.ts';
import { startGateway } from '../crash/gateway-process.ts';
import type { GatewayProcess } from '../crash/gateway-process.ts';
import { bearerOf, PEOPLE, writeTokens } from '../crash/people.ts';
import { createEffects } from '../crash/site.ts';
import { launchUpstream } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream } from '../fixtures/upstreams/launch.ts';
import { createClient2026, openSession } from '../wire/client.ts';
import { callAsTask, createTask, objectAt, reaches, reaches2025, resultOf } from '../wire/steps.ts';

const effects = createEffects();
const folder = mkdtempSync(join(tmpdir(), 'longcall-canaries-'));
const data = join(folder, 'data');
let upstream: HttpUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await launchUpstream('effects', { EFFECTS_LOG: effects.file });
  const config = join(folder, 'longcall.yaml');
  const tools = { '*': { mode: 'task-optional', effect: 'consequential', syncWindow: '0ms' } };
  // YAML takes JSON. Everything that can be logged is.
  const log = { level: 'debug', format: 'ndjson' };
  writeFileSync(config, JSON.stringify({ upstreams: { own: { url: upstream.url, tools } }, log }));
  const env = { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) };
  gateway = await startGateway({ config, data, env });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  effects.remove();
  rmSync(folder, { recursive: true, force: true });
});

const ARGUMENT = 'canary-of-an-argument';
const ANSWER = 'canary-of-an-answer';
const SECRET = 'canarycanarycanary0123456789';

/** A result that is an error, an error of the protocol, an answer that comes back in a result, and one of each generation. */
async function playEverything(): Promise<readonly unknown[]> {
  const endpoint = { url: gateway.url, headers: bearerOf('alice') };
  const session = await openSession(endpoint);
  const client = createClient2026(endpoint);
  const asking = await callAsTask(client, 'ask', { args: { tag: ARGUMENT } });
  const asked = await reaches(client, asking, 'input_required');
  const [key = ''] = Object.keys(objectAt(asked, 'inputRequests'));
  const inputResponses = { [key]: { action: 'accept', content: { answer: ANSWER } } };
  const taskId = asking;
  resultOf(await client.request('tasks/update', { taskId, inputResponses }), 'the answer');
  const answered = await reaches(client, asking, 'completed');
  expect(JSON.stringify(answered['result'])).toContain(ANSWER);
  const tag = `Authorization: Bearer ${SECRET}`;
  const failed = await createTask(session, 'fail', { args: { tag } });
  const refused = await createTask(session, 'protocol_error', { args: { tag } });
  const ended = [
    await reaches2025(session, failed['taskId'], 'failed'),
    await reaches2025(session, refused['taskId'], 'failed'),
    await reaches(client, String(refused['taskId']), 'failed'),
    answered,
  ];
  return ended.map(({ statusMessage }) => statusMessage);
}

test('no token, no answer and no result is in a status message, in a log or in what operators see', async () => {
  const statusMessages = await playEverything();
  const door = openAdminDoor(data);
  const tasks = await door.tasks();
  const details = await Promise.all(tasks.map(({ id }) => door.task(id)));
  const told = { statusMessages, tasks, details, operations: await door.operations() };
  const logged = gateway.output();

  expect(logged).toContain('"event":"task.settled"');
  for (const { id } of tasks) expect(logged).toContain(id);
  expect(statusMessages[1]).toMatch(/refused Authorization: \[redacted\]$/);
  for (const secret of [ANSWER, SECRET, PEOPLE.alice.token, PEOPLE.bob.token]) {
    expect(JSON.stringify(told), secret).not.toContain(secret);
    expect(logged, secret).not.toContain(secret);
  }
  expect(logged).not.toContain(ARGUMENT);
});
