import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import { readQuestions } from './input-requests.ts';
import { answerFor, inputResponses, type OwnerQuestion } from './owner-questions.ts';

const form: OwnerQuestion = { method: 'elicitation/create', params: { mode: 'form' } };
const url: OwnerQuestion = { method: 'elicitation/create', params: { mode: 'url' } };
const sampling: OwnerQuestion = { method: 'sampling/createMessage', params: {} };
const accepted = { kind: 'result', result: { action: 'accept', content: { a: 1 } } } as const;
const refused = { kind: 'error', error: { code: -1, message: 'no' } } as const;

describe('what a peer hears about its question', () => {
  test('an answer passes as it is, also where it is an error', () => {
    expect(answerFor(form, { kind: 'answer', answer: accepted })).toEqual(accepted);
    expect(answerFor(sampling, { kind: 'answer', answer: refused })).toBe(refused);
  });

  test('an answer does not name our task to the peer; other metadata passes', () => {
    const related = { 'io.modelcontextprotocol/related-task': { taskId: 'tsk_secret' } };
    const given = { ...accepted.result, _meta: { ...related, 'com.example/a': 1 } };
    const answer = { kind: 'result', result: given } as const;
    expect(answerFor(form, { kind: 'answer', answer })).toEqual({
      kind: 'result',
      result: { ...accepted.result, _meta: { 'com.example/a': 1 } },
    });
  });

  test('nobody’s answer is never an accept', () => {
    for (const kind of ['expired', 'withdrawn'] as const) {
      expect(answerFor(form, { kind })).toEqual({ kind: 'result', result: { action: 'cancel' } });
      expect(answerFor(sampling, { kind })).toMatchObject({
        kind: 'error',
        error: { data: { reason: `input_${kind}` } },
      });
    }
  });

  verifies('G1-49', 'what was not declared is refused by the codes of the protocol', () => {
    expect(answerFor(url, { kind: 'undeclared' })).toMatchObject({ error: { code: -32_602 } });
    expect(answerFor(sampling, { kind: 'undeclared' })).toMatchObject({ error: { code: -32_601 } });
  });
});

describe('answers by key', () => {
  test('are results; a refused elicitation is a cancel', () => {
    const questions = [
      ['a', form],
      ['b', url],
    ] as const;
    const replies = [
      { kind: 'answer', answer: accepted },
      { kind: 'answer', answer: refused },
    ] as const;
    expect(inputResponses(questions, replies)).toEqual({
      kind: 'responses',
      responses: { a: accepted.result, b: { action: 'cancel' } },
    });
  });

  test('cannot carry an error of another kind, so that the round ends', () => {
    expect(inputResponses([['a', sampling]], [{ kind: 'expired' }])).toMatchObject({
      kind: 'refused',
    });
  });
});

describe('questions by key', () => {
  test('are read without what belongs to the peer’s hop', () => {
    const meta = { 'io.modelcontextprotocol/related-task': { taskId: 't' }, 'com.example/a': 1 };
    const requests = { k: { method: 'elicitation/create', params: { mode: 'form', _meta: meta } } };
    expect(readQuestions(requests)).toEqual({
      kind: 'questions',
      questions: [
        [
          'k',
          { method: 'elicitation/create', params: { mode: 'form', _meta: { 'com.example/a': 1 } } },
        ],
      ],
    });
  });

  test.each([{ k: { method: 'com.example/ask' } }, { k: 'text' }, { k: {} }])(
    '%j is none that we know',
    (requests) => {
      expect(readQuestions(requests).kind).toBe('invalid');
    },
  );
});
