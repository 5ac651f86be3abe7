import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import type { InputPolicy, InputRequest } from '../../protocol/model.ts';
import type { FoundInput } from '../../stores/inputs.ts';
import type { FormQuestion, SealedValue, UrlQuestion } from './context.ts';
import {
  formAnswerOf,
  newFormInput,
  newUrlInput,
  QuestionCancelsRun,
  QuestionExpired,
  QuestionWithdrawn,
  urlAnswerOf,
} from './questions.ts';

const form: FormQuestion = {
  message: 'Which?',
  schema: { type: 'object', properties: { size: { type: 'string' }, ok: { type: 'boolean' } } },
};
const site = { key: 'in_1', maxOpenMs: 60_000, effect: 'read' } as const;
const asked = (but: Partial<FormQuestion>, at: Partial<typeof site> = {}) =>
  newFormInput({ ...form, ...but }, { ...site, ...at });

const POLICY: InputPolicy = {
  fields: { size: 'personal', ok: 'personal' },
  answerableByModel: [],
  onExpiry: 'fail',
  approval: true,
};

describe('a form', () => {
  test('is stored with its policy: personal, no model, an approval, and failing unless said otherwise', () => {
    expect(asked({})).toEqual({
      key: 'in_1',
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Which?', requestedSchema: form.schema },
      openMs: 60_000,
      policy: POLICY,
    });
  });

  test('is stored as its author declares it', () => {
    const declared = asked({
      fields: { size: 'public' },
      answerableByModel: ['size'],
      expiresInMs: 1500.7,
      onExpiry: 'default',
      defaultContent: { size: 'M' },
      approval: false,
    });
    expect(declared).toMatchObject({
      openMs: 1500,
      policy: {
        fields: { size: 'public', ok: 'personal' },
        answerableByModel: ['size'],
        onExpiry: 'default',
        defaultContent: { size: 'M' },
        approval: false,
      },
    });
  });

  test('never stays open longer than it may', () => {
    expect(asked({ expiresInMs: 3_600_000 })).toMatchObject({ openMs: 60_000 });
  });

  test('of a consequential tool is an approval, whatever its author says', () => {
    const consequential = newFormInput(
      { ...form, approval: false },
      { ...site, effect: 'consequential' },
    );
    expect(consequential).toMatchObject({ policy: { approval: true } });
  });

  test.each<readonly [string, Partial<FormQuestion>, string]>([
    ['no message', { message: ' ' }, 'needs a message'],
    ['an endless message', { message: 'x'.repeat(2001) }, 'at most 2000 characters'],
    ['no form', { schema: {} }, 'type object'],
    ['a class of a field that is none', { fields: { colour: 'public' } }, 'names colour'],
    ['an answer of a model to a field that is none', { answerableByModel: ['a'] }, 'names a'],
    ['a secret', { fields: { size: 'secret' } }, 'the field size (secret)'],
    ['a class that is none', { fields: { size: 'Secret' as 'secret' } }, 'one of public'],
    ['no time', { expiresInMs: 0 }, 'expiresInMs'],
    ['a default for nothing', { defaultContent: {} }, 'onExpiry: default'],
    [
      'a default that does not fit',
      { onExpiry: 'default', defaultContent: { ok: 'x' } },
      'does not fit',
    ],
  ])('with %s cannot be asked', (_what, but, words) => {
    expect(asked(but)).toEqual({ problem: expect.stringContaining(words) });
  });
});

const page: UrlQuestion = {
  message: 'Connect',
  url: ({ token }) => `https://page.example/?c=${token}`,
};
const urlSite = {
  key: 'in_2',
  maxOpenMs: 60_000,
  confirmation: { confirmation: { token: 'tok' }, hash: 'hash' },
  anonymous: false,
};

describe('a page', () => {
  test('is stored with the hash of its confirmation, and what it sends as a secret', () => {
    expect(newUrlInput(page, urlSite)).toEqual({
      key: 'in_2',
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Connect', url: 'https://page.example/?c=tok' },
      openMs: 60_000,
      policy: {
        fields: { content: 'secret' },
        answerableByModel: [],
        onExpiry: 'fail',
        approval: true,
      },
      confirmationHash: 'hash',
    });
  });

  test.each([
    ['http://page.example/', 'https'],
    ['ftp://page.example/', 'https'],
    ['javascript:alert(1)', 'https'],
    ['/relative', 'absolute'],
    ['https://user:pass@page.example/', 'credentials'],
    [`https://page.example/${'x'.repeat(2048)}`, 'characters'],
    [undefined as unknown as string, 'absolute'],
  ])('at %s is nowhere to send somebody', (url, words) => {
    const made = newUrlInput({ ...page, url: () => url }, urlSite);
    expect(made).toEqual({ problem: expect.stringContaining(words) });
  });

  test('with a class that is none is asked for by nobody, lest its content be kept unsealed', () => {
    const misspelt = { ...page, fieldClass: 'secrets' as 'secret' };
    expect(newUrlInput(misspelt, urlSite)).toEqual({
      problem: 'a field class is one of public, personal, secret, payment, credential',
    });
  });

  test.each(['http://localhost:8080/x', 'http://127.0.0.1/x', 'http://[::1]:1/x'])(
    'of this machine may be plain: %s',
    (url) =>
      expect(newUrlInput({ ...page, url: () => url }, urlSite)).toMatchObject({ key: 'in_2' }),
  );

  test('is for somebody in particular', () => {
    expect(newUrlInput(page, { ...urlSite, anonymous: true })).toHaveProperty('problem');
  });
});

type Found = Omit<Partial<FoundInput>, 'input'> & { readonly input?: Partial<InputRequest> };

function found(but: Found = {}): FoundInput {
  const input: InputRequest = {
    taskId: 'tsk_1',
    key: 'in_1',
    method: 'elicitation/create',
    params: {},
    state: 'answered',
    askedAt: 0,
    expiresAt: 1,
    policy: POLICY,
    ...but.input,
  };
  return { ...but, input };
}
const answered = (result: JsonObject): FoundInput => found({ answer: { kind: 'result', result } });
const expired = (policy: Partial<InputPolicy>): FoundInput =>
  found({
    input: { state: 'expired', policy: { ...POLICY, ...policy } },
    closedBecause: 'expired',
  });

describe('what became of a form', () => {
  test.each([
    [
      { action: 'accept', content: { size: 'M' } },
      { action: 'accept', content: { size: 'M' } },
    ],
    [{ action: 'accept' }, { action: 'accept', content: {} }],
    [{ action: 'decline', content: { size: 'M' } }, { action: 'decline' }],
    [{ action: 'cancel' }, { action: 'cancel' }],
  ])('%j', (result, answer) => expect(formAnswerOf(answered(result), form)).toEqual(answer));

  test('an error of the client is no choice', () => {
    const failed = found({ answer: { kind: 'error', error: { code: -1, message: 'no' } } });
    expect(formAnswerOf(failed, form)).toEqual({ action: 'cancel' });
  });

  test('nobody answered', () => {
    expect(() => formAnswerOf(expired({}), form)).toThrow(QuestionExpired);
    expect(() => formAnswerOf(expired({ onExpiry: 'cancel' }), form)).toThrow(QuestionCancelsRun);
    const harmless = {
      onExpiry: 'default',
      approval: false,
      defaultContent: { size: 'M' },
    } as const;
    expect(formAnswerOf(expired(harmless), form)).toEqual({
      action: 'nobody',
      content: { size: 'M' },
    });
    expect(formAnswerOf(expired({ ...harmless, approval: true }), form)).toEqual({
      action: 'nobody',
    });
  });

  test('it was taken back', () => {
    const taken = found({ input: { state: 'withdrawn' }, closedBecause: 'upstream_lost' });
    expect(() => formAnswerOf(taken, form)).toThrow(QuestionWithdrawn);
  });
});

describe('what became of a page', () => {
  const unseal = (text: string): SealedValue => ({ use: () => Promise.resolve(text as never) });

  test('confirmed, with what it sent', async () => {
    expect(urlAnswerOf(answered({ action: 'confirm' }), page, unseal)).toEqual({
      action: 'confirmed',
    });
    const open = answered({ action: 'confirm', content: { a: 1 } });
    expect(urlAnswerOf(open, page, unseal)).toEqual({ action: 'confirmed', content: { a: 1 } });
    const sealed = urlAnswerOf(answered({ action: 'confirm', sealed: 'v1.x' }), page, unseal);
    expect(sealed).toMatchObject({ action: 'confirmed' });
    expect(await ('sealed' in sealed ? sealed.sealed?.use('x', () => '') : '')).toBe('v1.x');
  });

  test.each(['decline', 'cancel'])('%s', (action) =>
    expect(urlAnswerOf(answered({ action }), page, unseal)).toEqual({ action }),
  );

  test('an "accept" of the client is no confirmation, wherever it comes from', () => {
    expect(urlAnswerOf(answered({ action: 'accept' }), page, unseal)).toEqual({ action: 'cancel' });
  });

  test('nobody came', () => {
    expect(() => urlAnswerOf(expired({}), page, unseal)).toThrow(QuestionExpired);
  });
});
