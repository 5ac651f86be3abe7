import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import type { JsonObject } from '../kernel/json.ts';
import { classOfField, classOfQuestion, inferredClasses } from './field-class.ts';
import { FORM_BOUNDS, formBoundsProblem, formSchemaProblem } from './form-schema.ts';

const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const many = (count: number, make: (at: number) => JsonObject): JsonObject[] =>
  Array.from({ length: count }, (_, at) => make(at));
const nested = (depth: number): JsonObject =>
  depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1) };

describe('the schema of a form', () => {
  test.each([
    ['no field', form({})],
    [
      'every simple type',
      form({
        a: { type: 'string', format: 'email' },
        b: { type: 'integer' },
        c: { type: 'number' },
        d: { type: 'boolean' },
        e: { type: 'array', items: { enum: ['x'] } },
        f: { enum: ['x', 'y'] },
        g: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] },
      }),
    ],
    ['a field that is required', form({ a: { type: 'string' } }, { required: ['a'] })],
  ])('may have %s', (_what, schema) => expect(formSchemaProblem(schema)).toBeUndefined());

  test.each([
    ['no properties', { type: 'object' }, 'properties'],
    ['another type', { type: 'array', properties: {} }, 'type object'],
    ['a field without a type', form({ a: {} }), 'the field a needs a type'],
    [
      'a nested object',
      form({ a: { type: 'object', properties: {} } }),
      'the field a needs a type',
    ],
    ['a reference', form({ a: { type: 'string', $ref: 'https://x' } }), '$ref'],
    ['a field that is none', form({ a: 'yes' }), 'the field a is no object'],
    ['an unknown field required', form({}, { required: ['b'] }), '"b"'],
  ])('must not have %s', (_what, schema, words) =>
    expect(formSchemaProblem(schema)).toContain(words),
  );

  verifies(['G2-144', 'G1-121'], 'is bounded in depth, schemas and choices', () => {
    const { fields, schemas, choices, depth } = FORM_BOUNDS;
    const wide = (count: number) =>
      form(
        Object.fromEntries(many(count, () => ({})).map((_, at) => [`f${at}`, { type: 'string' }])),
      );
    const schemaList = (count: number) =>
      form({ a: { anyOf: many(count, () => ({ type: 'string' })) } });
    const choiceList = (count: number) =>
      form({ a: { oneOf: many(count, (at) => ({ const: at })) } });
    const enumList = (count: number) => form({ a: { enum: many(count, () => ({})) } });
    const deep = (levels: number) => form({ a: nested(levels) });
    for (const [make, most] of [
      [wide, fields],
      [schemaList, schemas - 1],
      [choiceList, choices],
      [enumList, choices],
      [deep, depth - 1],
    ] as const) {
      expect(formBoundsProblem(make(most))).toBeUndefined();
      expect(formBoundsProblem(make(most + 1))).toContain('too large');
    }
  });
});

describe('the class of a field', () => {
  test.each([
    ['password', { type: 'string' }, 'credential'],
    ['API-Key', { type: 'string' }, 'credential'],
    ['card_number', { type: 'string' }, 'payment'],
    ['any', { type: 'string', format: 'password' }, 'secret'],
    ['any', { type: 'string', writeOnly: true }, 'secret'],
    ['email', { type: 'string', format: 'email' }, 'personal'],
    ['note', { type: 'string' }, 'personal'],
    ['password', { type: 'boolean' }, 'public'],
    ['size', { enum: ['S'] }, 'public'],
    ['constructor', { type: 'string' }, 'personal'],
    ['broken', 'no schema', 'personal'],
  ] as const)('%s with %j is %s', (name, field, expected) =>
    expect(classOfField(name, field)).toBe(expected),
  );

  test('is found for each field of a form', () => {
    const schema = form({ ok: { type: 'boolean' }, mail: { type: 'string' } });
    expect(inferredClasses(schema)).toEqual({ ok: 'public', mail: 'personal' });
    expect(inferredClasses(undefined)).toEqual({});
  });

  test('the most sensitive one is that of the question', () => {
    const policy = { answerableByModel: [], onExpiry: 'fail', approval: true } as const;
    const of = (fields: Parameters<typeof classOfQuestion>[0]) => classOfQuestion(fields);
    expect(of({ ...policy, fields: { a: 'public', b: 'payment', c: 'personal' } })).toBe('payment');
    expect(of({ ...policy, fields: {} })).toBe('personal');
    expect(of(undefined)).toBe('personal');
  });
});
