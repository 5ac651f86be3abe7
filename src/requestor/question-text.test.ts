import { expect, test } from 'vitest';
import { readableQuestion } from './question-text.ts';

const ESC = '\u001b[31m';
const RLO = '\u202e';

test('the words of a form lose what cannot be seen, its values and the rest keep it', () => {
  const asked = {
    message: `pay${ESC} now${RLO}`,
    requestedSchema: {
      type: 'object',
      properties: { plan: { type: 'string', title: `a${RLO}b`, enum: [`x${RLO}`] } },
    },
    _meta: { note: RLO },
  };
  expect(readableQuestion('elicitation/create', asked)).toEqual({
    message: 'pay now',
    requestedSchema: {
      type: 'object',
      properties: { plan: { type: 'string', title: 'ab', enum: [`x${RLO}`] } },
    },
    _meta: { note: RLO },
  });
});

test('what a model is to sample is passed on as it came', () => {
  const asked = { messages: [{ role: 'user', content: { type: 'text', text: ESC } }] };
  expect(readableQuestion('sampling/createMessage', asked)).toEqual(asked);
});
