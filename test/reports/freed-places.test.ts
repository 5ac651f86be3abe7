import { describe, expect, test } from 'vitest';
import { objectAt } from '../../src/kernel/json.ts';
import type { Job } from '../../src/runtime/job.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import { caller2025, caller2026, resultOf, stream, textOf, WITH_FORMS } from '../faces/wire.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { startGateway, until as eventually } from '../gateway/gateway-kit.ts';
import { serveRawHttp } from '../gateway/servers/raw-http.ts';
import { run } from '../gateway/test-job.ts';
import { answered, until } from '../runtime/receiving-side.ts';
import { GATED, GENERATIONS, openPipe } from './pipe.ts';

const LATE = new URL('./servers/late.ts', import.meta.url).pathname;

describe('the place of a call that was cancelled and is never answered', () => {
  test.each(GENERATIONS)(
    'is free: its id can be used again, and nothing of it is left (%s) [C4]',
    async (generation) => {
      const { kit, open, cancel, answerTo, lines } = await openPipe();
      const jobs: Job[] = [];
      for (let round = 0; round < 5; round += 1) {
        open(generation, 'same', GATED);
        jobs.push(await kit.gate.next());
        cancel('same');
        await until(() => jobs.at(-1)?.signal.aborted === true);
      }
      await until(() => kit.side.engine.runningCount() === 0);
      expect(lines.filter((line) => line.includes('"same"'))).toEqual([]);
      expect(kit.side.runtime.stats()).toMatchObject({ running: 0, waiters: 0 });
      expect(await kit.side.store.tasks.counts()).toMatchObject({ working: 0, inputRequired: 0 });
      open(generation, 'same', GATED);
      kit.gate.end(await kit.gate.next(), answered('answered'));
      expect(textOf(resultOf(await answerTo('same')))).toContain('answered');
    },
  );

  test('is free over HTTP: the stream ends, and the next call is let in [C4]', async () => {
    const kit = await createKit({ tools: [tool('gated', { mode: 'sync' })], open: 1 });
    const { url } = await kit.http();
    const alice = await caller2025(url, 'alice');
    for (const id of [7, 7]) {
      const events = await stream(
        alice.open('tools/call', { name: 'gated', arguments: {} }, { id }),
      );
      const job = await kit.gate.next();
      await alice.send({ method: 'notifications/cancelled', params: { requestId: id } });
      expect(await events.rest()).toEqual([]);
      await kit.side.outcome(job.task);
    }
    const modern = caller2026(url, 'alice', WITH_FORMS);
    const gone = new AbortController();
    const left = modern.tool('gated', {}, { signal: gone.signal });
    const { task } = await kit.gate.next();
    gone.abort();
    await expect(left).rejects.toThrow('aborted');
    await kit.side.outcome(task);
    const last = modern.tool('gated');
    kit.gate.end(await kit.gate.next(), answered('room for one'));
    expect(textOf(resultOf(await last))).toContain('room for one');
  });

  test('is free in a gateway: its connection, socket or process is not waited for [C4]', async () => {
    const held: unknown[] = [];
    const closed: unknown[] = [];
    const server = await serveRawHttp((exchange) => {
      const { message, response } = exchange;
      if (message['method'] !== 'tools/call' || objectAt(message, 'params')?.['name'] !== 'call')
        return false;
      held.push(message['id']);
      response.on('close', () => {
        closed.push(message['id']);
        held.pop();
      });
      return true;
    });
    const upstreams = [
      { name: 'h', prefix: 'h_', endpoint: { kind: 'http', url: server.url }, connectionsMax: 1 },
      {
        name: 's',
        prefix: 's_',
        endpoint: { kind: 'stdio', ...typescriptCommand(LATE) },
        connectionsMax: 1,
      },
    ] as const;
    const gateway = await startGateway({ upstreams });
    const asks = ['elicitation-form'] as const;
    for (const [mute, next] of [
      ['h_call', 'h_other'],
      ['s_late', 's_next'],
    ] as const) {
      const call = run(gateway, { tool: mute, asks });
      await eventually(() => expect(call.logs.length + held.length).toBeGreaterThan(0));
      call.stop('cancelled');
      expect(await call.end).toMatchObject({ end: 'cancelled' });
      expect(await run(gateway, { tool: next, asks }).end).toMatchObject({ end: 'answered' });
    }
    await eventually(() => expect(closed).toHaveLength(1));
  });
});
