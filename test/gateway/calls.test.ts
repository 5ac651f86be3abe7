import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import {
  ALICE,
  BOB,
  effectsLog,
  eventsOf,
  httpFixture,
  startGateway,
  stdioEndpoint,
  textOf,
  until,
} from './gateway-kit.ts';
import { accept, EVERY_ASK, run } from './test-job.ts';

const FORM = ['elicitation-form'] as const;

describe.each(['stdio', 'http'] as const)('calls to an upstream of 2025-11-25 over %s', (kind) => {
  const start = async (tools = {}) => {
    const effects = effectsLog();
    const endpoint =
      kind === 'stdio'
        ? stdioEndpoint('effects', effects)
        : ({ kind: 'http', url: (await httpFixture('effects', effects)).url } as const);
    return { effects, gateway: await startGateway({ upstreams: [{ endpoint, tools }] }) };
  };

  test('unknown fields, unknown content and passing _meta come through as they were', async () => {
    const { gateway } = await start();
    const { outcome, end } = await run(gateway, {
      tool: 'echo_meta',
      meta: { 'com.example/trace': { id: 7 }, traceparent: '00-1-2-01' },
    }).end;
    expect(end).toBe('answered');
    expect(outcome).toMatchObject({
      kind: 'result',
      result: {
        _meta: { 'com.example/echo': true },
        content: [{ type: 'text' }, { type: 'com.example/hologram', depth: 3 }],
        'com.example/extra': { kept: true },
      },
    });
    const seen = JSON.parse(textOf(outcome.kind === 'result' ? outcome.result : {})) as Record<
      string,
      unknown
    >;
    expect(seen).toMatchObject({ 'com.example/trace': { id: 7 }, traceparent: '00-1-2-01' });
    expect(Object.keys(seen).toSorted()).toEqual([
      'com.example/trace',
      'progressToken',
      'traceparent',
    ]);
  });

  test('an error comes through with code, message and data', async () => {
    const { gateway } = await start();
    const { outcome, end } = await run(gateway, { tool: 'protocol_error', arguments: { tag: 'x' } })
      .end;
    expect(end).toBe('error');
    expect(outcome).toEqual({
      kind: 'error',
      error: {
        code: -31_055,
        message: 'MCP error -31055: refused x', // SDK v1 puts the prefix there itself
        data: { tag: 'x', hint: 'ask somebody else' },
      },
    });
  });

  test('a tool error is a result, told apart for the ledger', async () => {
    const { gateway } = await start();
    const { outcome, end } = await run(gateway, { tool: 'fail', arguments: { tag: 'x' } }).end;
    expect(end).toBe('tool_error');
    expect(outcome).toMatchObject({ kind: 'result', result: { isError: true } });
  });

  test('progress and log messages reach the call, progress also as a status', async () => {
    const { gateway } = await start();
    const steps = run(gateway, { tool: 'progress', arguments: { steps: 2 } });
    await steps.end;
    expect(steps.progress).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
    expect(steps.statuses).toEqual(['1/2 step 1', '2/2 step 2']);
    const events = eventsOf(gateway);
    const logged = run(gateway, { tool: 'log', arguments: { tag: 'x' }, asks: FORM });
    await logged.end;
    // Over HTTP this server logs on the standing stream, which may be behind the answer: then it is the principal's.
    const heard = () => [
      ...logged.logs,
      ...events.flatMap((event) =>
        event.kind === 'log' && event.principalKey === ALICE.key ? [event.params] : [],
      ),
    ];
    await until(() =>
      expect(heard()).toEqual([{ level: 'info', logger: 'effects', data: { tag: 'x' } }]),
    );
  });

  verifies('G1-73', 'a cancel reaches the upstream within two seconds', async () => {
    const { gateway, effects } = await start();
    const slow = run(gateway, { tool: 'slow', arguments: { tag: 'c', ms: 60_000 } });
    await until(() => expect(effects.lines('c').at(-1)?.event).toBe('tick'));
    const since = performance.now();
    slow.stop('cancelled');
    expect(await slow.end).toMatchObject({ outcome: { kind: 'cancelled' }, end: 'cancelled' });
    await until(() => expect(effects.lines('c').at(-1)?.event).toBe('cancelled'));
    expect(performance.now() - since).toBeLessThan(2_000);
  });

  test('a question reaches the owner of the call, and the answer goes back', async () => {
    const { gateway } = await start();
    const asking = run(gateway, { tool: 'ask', arguments: { tag: 'q' }, asks: FORM });
    await until(() => expect(asking.questions).toHaveLength(1));
    expect(asking.questions[0]).toMatchObject({
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Question for q' },
    });
    asking.questions[0]?.answer(accept({ answer: 'yes' }));
    const { outcome } = await asking.end;
    expect(JSON.parse(textOf(outcome.kind === 'result' ? outcome.result : {}))).toEqual([
      { action: 'accept', content: { answer: 'yes' } },
    ]);
  });

  test('sampling and roots reach the owner as well', async () => {
    const { gateway } = await start();
    const sampling = run(gateway, { tool: 'sample', asks: EVERY_ASK });
    await until(() => expect(sampling.questions).toHaveLength(1));
    const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'said' } };
    sampling.questions[0]?.answer({ kind: 'result', result: answer });
    expect(JSON.stringify(await sampling.end)).toContain('said');
    const roots = run(gateway, { tool: 'roots', asks: EVERY_ASK });
    await until(() => expect(roots.questions).toHaveLength(1));
    roots.questions[0]?.answer({ kind: 'result', result: { roots: [{ uri: 'file:///r' }] } });
    expect(JSON.stringify(await roots.end)).toContain('file:///r');
  });

  test('what the caller did not declare is refused upstream, and nobody is asked', async () => {
    const { gateway, effects } = await start();
    const asking = run(gateway, { tool: 'ask', arguments: { tag: 'n' } });
    await asking.end;
    expect(asking.questions).toEqual([]);
    expect(effects.lines('n').at(-1)?.detail).toEqual({
      refused: expect.stringMatching(/-32602.*did not declare form elicitation/),
    });
  });

  test('a question that nobody answers in time is cancelled, never accepted', async () => {
    const { gateway } = await start();
    const asking = run(gateway, { tool: 'ask', arguments: { tag: 'e' }, asks: FORM });
    await until(() => expect(asking.questions).toHaveLength(1));
    asking.questions[0]?.reply({ kind: 'expired' });
    expect(JSON.stringify(await asking.end)).toContain(String.raw`{\"action\":\"cancel\"}`);
  });

  test('two calls that both ask never get each other’s questions or answers', async () => {
    const { gateway } = await start();
    const calls = [
      { tag: 'a1', principal: ALICE },
      { tag: 'b1', principal: BOB },
      { tag: 'a2', principal: ALICE },
      { tag: 'b2', principal: BOB },
    ].map(({ tag, principal }) => ({
      tag,
      call: run(gateway, { tool: 'ask_both', arguments: { tag }, asks: FORM, principal }),
    }));
    await Promise.all(calls.map(({ call }) => until(() => expect(call.questions).toHaveLength(2))));
    for (const { tag, call } of calls.toReversed()) {
      for (const question of call.questions) {
        expect(question.params['message']).toMatch(new RegExp(`question for ${tag}$`));
        const side = String(question.params['message']).split(' ')[0] ?? '';
        question.answer(accept({ answer: `${side} ${tag}` }));
      }
    }
    for (const { tag, call } of calls) {
      const { outcome } = await call.end;
      expect(JSON.parse(textOf(outcome.kind === 'result' ? outcome.result : {}))).toEqual([
        { action: 'accept', content: { answer: `Left ${tag}` } },
        { action: 'accept', content: { answer: `Right ${tag}` } },
      ]);
    }
  });

  test('a result above the limit is refused as too large, and the connection lives on', async () => {
    const { effects } = await start();
    const endpoint =
      kind === 'stdio'
        ? stdioEndpoint('effects', effects)
        : ({ kind: 'http', url: (await httpFixture('effects')).url } as const);
    const gateway = await startGateway({ resultBytesMax: 100_000, upstreams: [{ endpoint }] });
    const big = await run(gateway, { tool: 'big', arguments: { bytes: 300_000 } }).end;
    expect(big.outcome).toMatchObject({
      kind: 'error',
      error: { data: { reason: 'result_too_large' } },
    });
    const nearly = await run(gateway, { tool: 'big', arguments: { bytes: 100_000 } }).end;
    expect(nearly.outcome).toMatchObject({
      kind: 'error',
      error: { data: { reason: 'result_too_large' } },
    });
    const fits = await run(gateway, { tool: 'big', arguments: { bytes: 90_000 } }).end;
    expect(fits.end).toBe('answered');
  });
});
