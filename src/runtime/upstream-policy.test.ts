import { expect, test } from 'vitest';
import { policyOfUpstream } from './upstream-policy.ts';

test('a question of an upstream is an approval that no model answers and that nobody’s silence accepts', () => {
  const properties = { ok: { type: 'boolean' }, mail: { type: 'string', format: 'email' } };
  expect(policyOfUpstream({ requestedSchema: { type: 'object', properties } })).toEqual({
    fields: { ok: 'public', mail: 'personal' },
    answerableByModel: [],
    onExpiry: 'fail',
    approval: true,
  });
});

test('a page of an upstream is not one that confirms to longcall', () => {
  expect(policyOfUpstream({ mode: 'url', url: 'https://page.example/' }).fields).toEqual({});
});
