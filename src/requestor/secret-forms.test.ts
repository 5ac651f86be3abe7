import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import type { JsonObject } from '../kernel/json.ts';
import { readQuestions } from './input-requests.ts';
import { asksForSecret } from './secret-forms.ts';

const formWith = (properties: JsonObject): JsonObject => ({
  mode: 'form',
  message: 'please',
  requestedSchema: { type: 'object', properties },
});

const asks = (properties: JsonObject): boolean =>
  asksForSecret('elicitation/create', formWith(properties));

describe('a form that wants a secret', () => {
  test.each([
    'password',
    'Password',
    'api_key',
    'apiKey',
    'API-KEY',
    'access_token',
    'card number',
  ])('is told by the name of a field: %s', (name) =>
    expect(asks({ name: { type: 'string' }, [name]: { type: 'string' } })).toBe(true),
  );

  test('is told by what a field says of itself', () => {
    expect(asks({ answer: { type: 'string', format: 'password' } })).toBe(true);
    expect(asks({ answer: { type: 'string', writeOnly: true } })).toBe(true);
  });

  test('is told with or without a mode', () => {
    const { mode: _, ...params } = formWith({ password: { type: 'string' } });
    expect(asksForSecret('elicitation/create', params)).toBe(true);
  });
});

describe('what is none', () => {
  test.each([
    ['a field that only mentions one', { password_policy: { type: 'string' } }],
    ['a choice about one', { password: { type: 'boolean' } }],
    ['a field that is no schema', { password: 'yes' }],
    ['no field at all', {}],
  ])('%s', (_what, properties) => expect(asks(properties)).toBe(false));

  test('a page to open, a question to a model, a form without a schema', () => {
    const secret = formWith({ password: { type: 'string' } });
    expect(asksForSecret('elicitation/create', { ...secret, mode: 'url' })).toBe(false);
    expect(asksForSecret('sampling/createMessage', secret)).toBe(false);
    expect(asksForSecret('elicitation/create', { mode: 'form' })).toBe(false);
  });
});

verifies(
  ['G1-50', 'G2-69', 'T44'],
  'a round with such a form is no round that is asked, whatever stands beside it',
  () => {
    const harmless = { method: 'elicitation/create', params: formWith({ a: { type: 'string' } }) };
    const secret = { method: 'elicitation/create', params: formWith({ cvv: { type: 'string' } }) };
    expect(readQuestions({ harmless })).toMatchObject({ kind: 'questions' });
    expect(readQuestions({ harmless, secret })).toEqual({
      kind: 'invalid',
      problem: expect.stringContaining('URL mode'),
    });
  },
);
