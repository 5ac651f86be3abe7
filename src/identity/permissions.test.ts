import { describe, expect, test } from 'vitest';
import { hasScope, mayOn, owns, VERBS } from './permissions.ts';
import { anonymousPrincipal, createPrincipal, localPrincipal } from './principal.ts';

const withScopes = (...scopes: string[]) =>
  createPrincipal({ issuer: 'i', tenant: 'north', subject: 'alice', method: 'token', scopes });

describe('scopes', () => {
  test('the local user may do everything', () => {
    expect(VERBS.filter((verb) => !hasScope(localPrincipal(), verb))).toEqual([]);
  });

  test('no scope is no permission', () => {
    expect(VERBS.filter((verb) => hasScope(withScopes(), verb))).toEqual([]);
  });

  test('a verb grants itself, a group grants its verbs and no others', () => {
    expect(VERBS.filter((verb) => hasScope(withScopes('task.read'), verb))).toEqual(['task.read']);
    expect(VERBS.filter((verb) => hasScope(withScopes('tool.*', 'op.*'), verb))).toEqual([
      'tool.call',
      'op.read',
    ]);
    expect(hasScope(withScopes('task'), 'task.read')).toBe(false);
    expect(hasScope(withScopes('ta.*'), 'task.read')).toBe(false);
  });

  test('an anonymous caller has no list and no ledger', () => {
    expect(VERBS.filter((verb) => !hasScope(anonymousPrincipal(), verb))).toEqual([
      'task.list',
      'op.read',
    ]);
  });
});

describe('records', () => {
  const alice = withScopes('*');
  const record = { owner: alice.key, tenant: 'north' };

  test('belong to the principal of both the key and the tenant', () => {
    expect(owns(alice, record)).toBe(true);
    expect(owns(alice, { ...record, tenant: 'south' })).toBe(false);
    expect(owns(alice, { ...record, owner: localPrincipal().key })).toBe(false);
  });

  test('owning without the scope is not enough, nor the scope without owning', () => {
    expect(mayOn(alice, 'task.cancel', record)).toBe(true);
    expect(mayOn({ ...alice, scopes: ['task.read'] }, 'task.cancel', record)).toBe(false);
    expect(mayOn(localPrincipal(), 'task.cancel', record)).toBe(false);
  });
});
