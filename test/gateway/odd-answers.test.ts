import { expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { typescriptCommand } from '../fixtures/upstreams/launch.ts';
import { startGateway, textOf } from './gateway-kit.ts';
import { EVERY_ASK, run } from './test-job.ts';

const ODD = new URL('./servers/odd.ts', import.meta.url).pathname;
const start = () =>
  startGateway({ upstreams: [{ endpoint: { kind: 'stdio', ...typescriptCommand(ODD) } }] });

test.each(['null_result', 'text_result', 'no_content', 'no_code', 'no_answer_member'])(
  'an answer that is none (%s) is said to be that',
  async (tool) => {
    const gateway = await start();
    const { outcome, end } = await run(gateway, { tool }).end;
    expect(end).toBe('error');
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { code: -32_603, data: { reason: 'upstream_invalid' } },
    });
  },
);

test('members that no schema knows do not cost the answer', async () => {
  const gateway = await start();
  const { outcome } = await run(gateway, { tool: 'extra_members' }).end;
  expect(outcome).toEqual({ kind: 'result', result: { content: [], 'com.example/kept': true } });
  const structured = await run(gateway, { tool: 'structured_only' }).end;
  expect(structured.outcome).toEqual({ kind: 'result', result: { structuredContent: [1, 2] } });
});

test('lines that are no messages are passed over', async () => {
  const gateway = await start();
  const { outcome } = await run(gateway, { tool: 'banner' }).end;
  expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toBe('after the banner');
});

verifies('G1-74', 'answers for nobody, and a second answer, are ignored', async () => {
  const gateway = await start();
  for (const tool of ['twice', 'twice']) {
    const { outcome } = await run(gateway, { tool }).end;
    expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toBe('first');
  }
});

test('a request that is none of the three questions is refused as unknown', async () => {
  const gateway = await start();
  const asking = run(gateway, { tool: 'unknown_question', asks: EVERY_ASK });
  const { outcome } = await asking.end;
  expect(asking.questions).toEqual([]);
  expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toContain('-32601');
});
