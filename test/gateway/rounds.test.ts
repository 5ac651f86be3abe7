import { describe, expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import {
  failureOf,
  forward,
  httpFixture,
  startGateway,
  stdioEndpoint,
  textOf,
  until,
} from './gateway-kit.ts';
import { accept, EVERY_ASK, run } from './test-job.ts';

/** The conformance fixture speaks 2026-07-28 and asks by `InputRequiredResult`. */
describe.each(['stdio', 'http'] as const)(
  'an upstream of 2026-07-28 without tasks, over %s',
  (kind) => {
    const start = async (tools = {}) => {
      const endpoint =
        kind === 'stdio'
          ? stdioEndpoint('conformance')
          : ({ kind: 'http', url: (await httpFixture('conformance')).url } as const);
      return startGateway({ upstreams: [{ endpoint, tools }] });
    };

    verifies(
      ['G2-63', 'G2-153'],
      'rounds of questions are asked and the call is made again with state and answers',
      async () => {
        const gateway = await start();
        const call = run(gateway, {
          tool: 'test_input_required_result_multi_round',
          asks: EVERY_ASK,
        });
        await until(() => expect(call.questions).toHaveLength(1));
        call.questions[0]?.answer(accept({ name: 'Ada' }));
        await until(() => expect(call.questions).toHaveLength(2));
        call.questions[1]?.answer(accept({ color: 'green' }));
        const { outcome } = await call.end;
        expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toBe('Ada: green');
        expect(call.journal).toEqual([]);
      },
    );

    test('several questions of one round are asked together', async () => {
      const gateway = await start();
      const call = run(gateway, {
        tool: 'test_input_required_result_multiple_inputs',
        asks: EVERY_ASK,
      });
      await until(() => expect(call.questions).toHaveLength(3));
      for (const question of call.questions) {
        if (question.method === 'roots/list')
          question.answer({ kind: 'result', result: { roots: [{ uri: 'file:///r' }] } });
        else if (question.method === 'elicitation/create') question.answer(accept({ name: 'Ada' }));
        else
          question.answer({
            kind: 'result',
            result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } },
          });
      }
      const { outcome } = await call.end;
      expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toMatch(/hi.* Ada, 1 roots/);
    });

    verifies(
      'G2-66',
      'each request declares what its own caller can be asked, and nothing else',
      async () => {
        const gateway = await start();
        const can = run(gateway, { tool: 'test_missing_capability', asks: ['sampling'] });
        expect(await can.end).toMatchObject({ end: 'answered' });
        const cannot = await run(gateway, {
          tool: 'test_missing_capability',
          asks: ['elicitation-form'],
        }).end;
        expect(cannot.outcome).toMatchObject({
          error: { code: -32_021, data: { requiredCapabilities: { sampling: {} } } },
        });
      },
    );

    test('a passed-on call of a caller before 2026 is asked in rounds', async () => {
      const gateway = await start();
      const asked: unknown[] = [];
      const result = await forward(
        gateway,
        ['tools/call', { name: 'confirm_delete', arguments: { filename: 'a' } }],
        {
          asks: ['elicitation-form'],
          onAsk: (question) => {
            asked.push(question.params['message']);
            return Promise.resolve(accept({ confirm: true }));
          },
        },
      );
      expect(asked).toEqual(['Delete a?']);
      expect(textOf(result)).toBe('Deleted a');
      expect(result).not.toHaveProperty('resultType');
    });

    test('a caller of 2026-07-28 gets the question as it is, and its answer goes up as it is', async () => {
      const gateway = await start();
      const caller = { generation: '2026-07-28', asks: ['elicitation-form'] } as const;
      const params = { name: 'test_input_required_result_request_state', arguments: {} };
      const question = await forward(gateway, ['tools/call', params], caller);
      expect(question).toMatchObject({
        resultType: 'input_required',
        requestState: expect.any(String),
      });
      const [key = ''] = Object.keys(question['inputRequests'] ?? {});
      const answer = {
        ...params,
        requestState: question['requestState'],
        inputResponses: {
          [key]: { action: 'accept', content: { confirm: true, ok: true, answer: 'x' } },
        },
      };
      const result = await forward(gateway, ['tools/call', answer], caller);
      expect(result).not.toHaveProperty('resultType');
      expect(result['content']).toBeDefined();
    });

    test('an unknown tool is the upstream’s own error', async () => {
      const gateway = await start();
      const failure = await failureOf(
        forward(gateway, ['prompts/get', { name: 'no_such_prompt' }]),
      );
      expect(failure.code).toBe(-32_602);
    });
  },
);
