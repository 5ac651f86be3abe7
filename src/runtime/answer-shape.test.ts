import { describe, expect, it } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { InputMethod } from '../protocol/model.ts';
import { answerProblem } from './answer-shape.ts';
import { createContentCheck } from './content-check.ts';

const check = createContentCheck();
const problemOf = (method: InputMethod, params: JsonObject, result: JsonObject) =>
  answerProblem({ method, params }, { kind: 'result', result }, check);

const form: JsonObject = {
  message: 'who?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2, maxLength: 10 },
      mail: { type: 'string', format: 'email' },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      ok: { type: 'boolean' },
      size: { type: 'string', enum: ['s', 'm'], enumNames: ['small', 'medium'] },
      colour: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'red' },
          { const: 'g', title: 'green' },
        ],
      },
      tags: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'a', title: 'A' },
            { const: 'b', title: 'B' },
          ],
        },
        minItems: 1,
      },
    },
    required: ['name'],
  },
};
const ask = (content: unknown) =>
  problemOf('elicitation/create', form, { action: 'accept', content: content as JsonObject });

describe('an answer to a form', () => {
  it.each([
    { name: 'Ada' },
    {
      name: 'Ada',
      mail: 'ada@example.org',
      age: 36,
      ok: true,
      size: 's',
      colour: 'g',
      tags: ['a', 'b'],
    },
    { name: 'Ada', beyond: 'the schema' },
  ])('fits: %j', (content) => {
    expect(ask(content)).toBeUndefined();
  });

  verifies(
    ['G1-63', 'G2-82', 'T28'],
    'that does not fit the schema is told what is wrong, not what was sent',
    () => {
      const wrong = [
        {},
        { name: 'A' },
        { name: 'Ada', mail: 'nowhere' },
        { name: 'Ada', age: 36.5 },
        { name: 'Ada', age: 151 },
        { name: 'Ada', ok: 'yes' },
        { name: 'Ada', size: 'xl' },
        { name: 'Ada', colour: 'b' },
        { name: 'Ada', tags: [] },
        { name: 'Ada', tags: ['c'] },
        'Ada',
        null,
      ];
      const problems = wrong.map(ask);
      expect(problems.every((problem) => problem?.startsWith('content'))).toBe(true);
      expect(problems.join()).not.toMatch(/nowhere|xl/);
    },
  );

  it('is checked by the form alone: no reference, pattern or id of the schema takes effect', () => {
    const tricky: JsonObject = {
      requestedSchema: {
        $id: 'x',
        $ref: 'https://elsewhere.example/schema',
        type: 'object',
        properties: { a: { type: 'string', pattern: '^(a+)+$', $ref: '#/nowhere' } },
      },
    };
    const content = { a: `${'a'.repeat(50)}!` };
    expect(problemOf('elicitation/create', tricky, { action: 'accept', content })).toBeUndefined();
    const other: JsonObject = {
      requestedSchema: { $id: 'x', properties: { a: { type: 'number' } } },
    };
    expect(problemOf('elicitation/create', other, { action: 'accept', content })).toMatch(/number/);
  });

  it('goes on being checked over many schemas', () => {
    for (let index = 0; index < 250; index += 1) {
      const requestedSchema = {
        properties: { [`f${index}`]: { type: 'number' } },
        required: [`f${index}`],
      };
      expect(
        problemOf('elicitation/create', { requestedSchema }, { action: 'accept', content: {} }),
      ).toContain(`f${index}`);
    }
  });
});

describe('an answer', () => {
  const url = { mode: 'url', url: 'https://a.example', message: '' };
  it.each<readonly [InputMethod, JsonObject, JsonObject, boolean]>([
    ['elicitation/create', form, { action: 'decline' }, true],
    ['elicitation/create', form, { action: 'cancel', content: null }, true],
    ['elicitation/create', form, { action: 'maybe' }, false],
    ['elicitation/create', form, {}, false],
    ['elicitation/create', { message: '' }, { action: 'accept' }, true],
    ['elicitation/create', url, { action: 'accept' }, true],
    ['elicitation/create', url, { action: 'accept', content: {} }, false],
    [
      'sampling/createMessage',
      {},
      { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
      true,
    ],
    [
      'sampling/createMessage',
      {},
      { role: 'assistant', model: 'm', content: [{ type: 'tool_use', id: '1' }] },
      true,
    ],
    [
      'sampling/createMessage',
      {},
      { role: 'system', model: 'm', content: { type: 'text' } },
      false,
    ],
    ['sampling/createMessage', {}, { role: 'user', content: { type: 'text' } }, false],
    ['sampling/createMessage', {}, { role: 'user', model: 'm', content: 'x' }, false],
    ['sampling/createMessage', {}, { role: 'user', model: 'm' }, false],
    ['roots/list', {}, { roots: [] }, true],
    ['roots/list', {}, { roots: [{ uri: 'file:///a', name: 'a' }] }, true],
    ['roots/list', {}, { roots: [{ name: 'a' }] }, false],
    ['roots/list', {}, {}, false],
  ])('to %s %#', (...[method, params, result, fits]) => {
    expect(problemOf(method, params, result) === undefined).toBe(fits);
  });

  it('may be an error, when it is one', () => {
    const asked = { method: 'roots/list', params: {} } as const;
    expect(
      answerProblem(asked, { kind: 'error', error: { code: -1, message: 'no' } }, check),
    ).toBeUndefined();
    expect(
      answerProblem(asked, { kind: 'error', error: { code: 0.5, message: 'no' } }, check),
    ).toBeDefined();
  });
});
