import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { JOB_MEMBER } from './job-facts.ts';
import { withHandle } from './output-schema.ts';

const HANDLE = { [JOB_MEMBER]: { job: 'tsk_x', status: 'working' } };

const accepts = (schema: JsonObject, value: JsonObject): boolean =>
  new AjvJsonSchemaValidator().getValidator(schema)(value).valid;

const object = (more: JsonObject): JsonObject => ({ type: 'object', ...more });

describe('the schema of a result or a handle', () => {
  test('takes what the tool’s own took, refuses what it refused, and takes the handle', () => {
    const own = object({
      properties: { next: { $ref: '#' }, to: { $ref: '#/definitions/place' } },
      required: ['to'],
      additionalProperties: false,
      definitions: { place: { type: 'string', minLength: 2 } },
    });
    const union = withHandle(own) ?? {};
    const values = [
      { to: 'Rome' },
      { to: 'Rome', next: { to: 'Oslo' } },
      { to: 'R' },
      { to: 'Rome', next: {} },
      { to: 'Rome', via: 1 },
      {},
    ];
    for (const value of values)
      expect(accepts(union, value), JSON.stringify(value)).toBe(accepts(own, value));
    expect(accepts(own, HANDLE)).toBe(false);
    expect(accepts(union, HANDLE)).toBe(true);
    expect(union['type']).toBe('object');
  });

  test('keeps its dialect at the root', () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    expect(withHandle(object({ $schema }))).toMatchObject({ $schema });
  });

  test('leaves data alone that looks like keywords', () => {
    const data = { const: { $ref: '#/nowhere', $id: 'x' }, default: { $anchor: 'y' } };
    const union = withHandle(object({ properties: { $ref: { type: 'string' }, a: data } }));
    expect(JSON.stringify(union)).toContain(JSON.stringify(data));
    expect(accepts(union ?? {}, { $ref: 'text' })).toBe(true);
  });

  test.each([
    ['$id', { $id: 'https://example.com/x' }],
    ['$anchor', { properties: { a: { $anchor: 'x' } } }],
    ['$dynamicRef', { items: { $dynamicRef: '#x' } }],
    ['a reference elsewhere', { properties: { a: { $ref: 'https://example.com/y' } } }],
    ['a reference by name', { properties: { a: { $ref: '#x' } } }],
  ])('is none where %s would mean something else in it', (_what, more) => {
    expect(withHandle(object(more))).toBeUndefined();
  });

  test('means the same for any flat schema', () => {
    const field = fc.constantFrom<JsonObject>(
      { type: 'string' },
      { type: 'integer' },
      { type: 'string', enum: ['a', 'b'] },
      { $ref: '#/$defs/deep' },
    );
    const names = fc.constantFrom('a', 'b', 'c');
    const schema = fc
      .record({ fields: fc.dictionary(names, field), required: fc.subarray(['a', 'b', 'c']) })
      .map(({ fields, required }) =>
        object({ properties: fields, required, $defs: { deep: object({ required: ['a'] }) } }),
      );
    const leaf = fc.constantFrom('a', 'x', 1, 1.5, { a: 1 }, {});
    const value = fc.dictionary(names, leaf) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(schema, value, (own, content) => {
        expect(accepts(withHandle(own) ?? {}, content)).toBe(accepts(own, content));
      }),
      { numRuns: 60 },
    );
  });
});
