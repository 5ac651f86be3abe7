import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../crash/gateway-process.ts';
import type { GatewayProcess } from '../crash/gateway-process.ts';
import { bearerOf, writeTokens } from '../crash/people.ts';
import type { Person } from '../crash/people.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { createClient2026, DECLARES_NO_TASKS, openSession } from '../wire/client.ts';
import { objectAt } from '../wire/steps.ts';

const SERVER = new URL('./servers/nests-too-deep.ts', import.meta.url).pathname;

async function serve(mode: 'passthrough' | 'task-optional'): Promise<GatewayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-deep-'));
  const { command, args } = typescriptCommand(SERVER);
  const tools = { '*': { mode, effect: 'read', syncWindow: '0ms' } };
  const config = join(folder, 'longcall.yaml');
  writeFileSync(
    config,
    JSON.stringify({ upstreams: { odd: { command: [command, ...args], tools } } }),
  );
  const env = { LONGCALL_IDENTITY_TOKENS: writeTokens(folder) };
  const gateway = await startGateway({ config, data: join(folder, 'data'), env });
  onTestFinished(async () => {
    await gateway.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return gateway;
}

const endpoint = ({ url }: GatewayProcess, person: Person) => ({ url, headers: bearerOf(person) });

test.each(['deep_answer', 'deep_log'])(
  'what an upstream nests too deep (%s) costs its own call, and not the gateway',
  async (name) => {
    const gateway = await serve('passthrough');
    const modern = createClient2026(endpoint(gateway, 'alice'));
    const session = await openSession(endpoint(gateway, 'alice'));
    const meta = { 'io.modelcontextprotocol/logLevel': 'debug' };
    const options = { capabilities: DECLARES_NO_TASKS, meta };
    const answers = [
      await modern.request('tools/call', { name, arguments: {} }, options),
      await session.request('tools/call', { name, arguments: {} }),
    ];
    for (const { result, error } of answers) {
      if (name === 'deep_log') expect(result).toMatchObject({ content: [{ text: 'logged' }] });
      else expect(error).toMatchObject({ data: { reason: 'upstream_invalid' } });
    }
    expect((await modern.request('tools/list')).status).toBe(200);
  },
);

test('a log that nests too deep silences nobody: the questions of others still reach them', async () => {
  const gateway = await serve('task-optional');
  const alice = await openSession(endpoint(gateway, 'alice'));
  const bob = await openSession(endpoint(gateway, 'bob'));
  const stream = await alice.listen();
  const logged = await alice.request('tools/call', { name: 'deep_log', task: {} });
  await alice.request('tasks/result', { taskId: objectAt(logged.result, 'task')['taskId'] });
  const asked = await bob.request('tools/call', { name: 'ask', task: {} });
  const { taskId } = objectAt(asked.result, 'task');
  const waiting = await bob.open('tasks/result', { taskId });
  const question = await waiting.waitFor(
    ({ method }) => method === 'elicitation/create',
    'the question',
  );
  await bob.respond(question, { action: 'decline' });
  await waiting.waitFor(({ result }) => result !== undefined, 'the result');
  stream.close();
});
