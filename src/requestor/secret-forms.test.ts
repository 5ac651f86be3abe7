import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import type { JsonObject } from '../kernel/json.ts';
import { readQuestions } from './input-requests.ts';
import { asksForSecret, formRefusal } from './secret-forms.ts';

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

verifies(['G2-144', 'G1-121'], 'a form beyond all bounds is passed on to nobody either', () => {
  const many = Array.from({ length: 101 }, (_, at) => [`f${at}`, { type: 'string' }] as const);
  const huge = formWith(Object.fromEntries(many));
  expect(formRefusal('elicitation/create', huge)).toMatchObject({ reason: 'form_too_large' });
  expect(readQuestions({ huge: { method: 'elicitation/create', params: huge } })).toMatchObject({
    kind: 'invalid',
    problem: expect.stringContaining('100 fields'),
  });
  expect(formRefusal('elicitation/create', formWith({ a: { type: 'string' } }))).toBeUndefined();
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

test.each([
  ['javascript:alert(1)', 'https'],
  ['file:///etc/passwd', 'https'],
  ['http://page.example/', 'https'],
  ['https://user:pass@page.example/', 'credentials'],
  ['https://page.example/\u202egpj.exe', 'cannot be seen'],
  ['nothing', 'absolute'],
  [undefined, 'absolute'],
])('sends nobody to the page %j', (url, problem) => {
  const page = { mode: 'url', message: 'sign in', ...(url === undefined ? {} : { url }) };
  expect(formRefusal('elicitation/create', page)).toMatchObject({
    reason: 'page_address',
    message: expect.stringContaining(problem) as string,
  });
});

test('sends people to ordinary pages, and to those of this machine', () => {
  for (const url of ['https://page.example/a?b=c', 'http://localhost:3000/', 'http://127.0.0.1/x'])
    expect(formRefusal('elicitation/create', { mode: 'url', message: '', url })).toBeUndefined();
});
