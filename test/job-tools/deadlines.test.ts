import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { tool } from '../faces/face-kit.ts';
import { caller2025, caller2026 } from '../faces/wire.ts';
import { answered, until } from '../runtime/receiving-side.ts';
import { createJobSite, factsOf, jobOf, plainHost, textsOf, type PlainHost } from './hosts.ts';

const slow = (name: string, but = {}) => tool(name, { jobWindowMs: 20_000, ...but });

/** Gives up on a call as a host's own deadline does: without a word on 2026-07-28, where the stream is the request. */
async function giveUpAfter(
  host: PlainHost,
  began: Promise<unknown>,
  afterMs: number,
): Promise<void> {
  const stop = new AbortController();
  const call = host.call('gated', {}, { signal: stop.signal });
  await began;
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  stop.abort();
  await expect(call).rejects.toThrow(/abort/i);
}

test('a host that gave up before the handle finds its job in the list, and collects the result [L3]', async () => {
  const { url, kit } = await createJobSite({ tools: [slow('gated', { effect: 'consequential' })] });
  const host = await plainHost(url, '2026-07-28');
  const run = kit.gate.next();
  await giveUpAfter(
    host,
    run.then((job) => job.dispatched()),
    0,
  );
  await until(() => kit.calls.some((call) => call.startsWith('abandon')));
  const { jobs } = factsOf(await host.call('longcall_list'));
  const [lost] = jobs as readonly JsonObject[];
  kit.gate.end(await run, answered('not lost'));
  const collected = await host.call('longcall_wait', { job: String(lost?.['job']) });
  expect(textsOf(collected).at(-1)).toBe('not lost');
});

test('what was not sent when its host gave up is never sent', async () => {
  const held = slow('gated', { effect: 'consequential', concurrency: 1 });
  const { url, kit } = await createJobSite({ tools: [held] });
  const host = await plainHost(url, '2026-07-28');
  void host.call('gated', { other: true }).catch(() => undefined);
  const first = await kit.gate.next(); // fills the only place
  await giveUpAfter(host, Promise.resolve(), 50);
  await until(() => kit.calls.some((call) => call.startsWith('abandon')));
  const { jobs } = factsOf(await host.call('longcall_list'));
  const states = (jobs as readonly JsonObject[]).map(({ status }) => status);
  expect(states).toContain('cancelled');
  kit.gate.end(first, answered('x'));
});

test('a host that cuts calls off at a deadline nobody told us gets its next handle before that [T4]', async () => {
  const { url, kit } = await createJobSite({ tools: [slow('gated')] });
  const host = await plainHost(url, '2026-07-28');
  await giveUpAfter(host, kit.gate.next(), 2_100);
  await until(() => kit.calls.some((call) => call.startsWith('abandon')));
  const began = performance.now();
  const started = await host.call('gated', { again: true });
  expect(performance.now() - began).toBeLessThan(2_100);
  expect(factsOf(started)).toMatchObject({ status: 'working' });
  const waitBegan = performance.now();
  await host.call('longcall_wait', { job: jobOf(started) });
  expect(performance.now() - waitBegan).toBeLessThan(2_100);
});

test('a tool that needs more than a minute ends in a result and not in a timeout [T1]', async () => {
  const { url, kit } = await createJobSite({ tools: [tool('gated', { jobWindowMs: 200 })] });
  const host = await plainHost(url, '2025-06-18');
  let turns = 1;
  let answer = await host.call('gated');
  const run = await kit.gate.next();
  while (answer['structuredContent'] !== undefined && turns < 4) {
    turns += 1;
    if (turns === 4) kit.gate.end(run, answered('after all'));
    answer = await host.call('longcall_wait', { job: jobOf(answer), seconds: 0.2 });
  }
  expect(textsOf(answer).at(-1)).toBe('after all');
});

test('a session that is cancelled in the window stops the request and not the work', async () => {
  const { url, kit } = await createJobSite({ tools: [slow('gated', { effect: 'consequential' })] });
  const caller = await caller2025(url, 'alice', { capabilities: {} });
  const opened = caller.open('tools/call', { name: 'gated', arguments: {} }, { id: 77 });
  const run = await kit.gate.next();
  await run.dispatched();
  await caller.send({ method: 'notifications/cancelled', params: { requestId: 77 } });
  await until(() => kit.calls.some((call) => call.startsWith('abandon')));
  await (await opened).body?.cancel();
  kit.gate.end(run, answered('done all the same'));
  const host = await plainHost(url, '2025-11-25');
  const [lost] = factsOf(await host.call('longcall_list'))['jobs'] as readonly JsonObject[];
  const collected = await host.call('longcall_wait', { job: String(lost?.['job']) });
  expect(textsOf(collected).at(-1)).toBe('done all the same');
});

test('a read that its caller gave up is stopped: it can be made again', async () => {
  const { url, kit } = await createJobSite({ tools: [slow('gated')] });
  const host = await plainHost(url, '2026-07-28');
  const run = kit.gate.next();
  await giveUpAfter(
    host,
    run.then((job) => job.dispatched()),
    0,
  );
  const { signal } = await run;
  await until(() => signal.aborted);
  expect(factsOf(await host.call('longcall_list'))['jobs']).toEqual([]);
});

test('a wait that is cut off leaves the job as it is', async () => {
  const { url, kit } = await createJobSite({ tools: [tool('gated', { jobWindowMs: 20 })] });
  const host = await plainHost(url, '2026-07-28');
  const job = jobOf(await host.call('gated'));
  const stop = new AbortController();
  const wait = caller2026(url, 'alice', {}).open(
    'tools/call',
    { name: 'longcall_wait', arguments: { job } },
    { signal: stop.signal },
  );
  stop.abort();
  await expect(wait).rejects.toThrow(/abort/i);
  kit.gate.end(await kit.gate.next(), answered('unharmed'));
  expect(textsOf(await host.call('longcall_wait', { job })).at(-1)).toBe('unharmed');
});
