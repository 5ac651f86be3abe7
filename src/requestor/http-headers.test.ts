import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { verifies } from '../../test/requirements/verifies.ts';
import { encodeHeaderValue, mirroredHeaders } from './http-headers.ts';
import { headerParamsOf, paramHeaders } from './header-params.ts';

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };

describe('headers of a request', () => {
  verifies('G2-151', 'a value that a header cannot carry is encoded', () => {
    expect(encodeHeaderValue('plain text')).toBe('plain text');
    expect(encodeHeaderValue('naïve')).toBe(
      `=?base64?${Buffer.from('naïve').toString('base64')}?=`,
    );
    for (const odd of ['', ' edge', 'line\nbreak', '=?base64?YQ==?='])
      expect(encodeHeaderValue(odd)).toMatch(/^=\?base64\?/);
  });

  verifies(['G2-146', 'G2-148', 'G2-149', 'G2-150'], 'mirror the body', () => {
    const message = (method: string, params: object) => ({
      method,
      params: { ...params, _meta: META },
    });
    expect(mirroredHeaders(message('tools/call', { name: 'a' }))).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'a',
    });
    expect(mirroredHeaders(message('resources/read', { uri: 'x://y' }))['mcp-name']).toBe('x://y');
    expect(mirroredHeaders(message('tasks/get', { taskId: 't' }))['mcp-name']).toBe('t');
    expect(mirroredHeaders(message('constructor', { name: 'a' }))).not.toHaveProperty('mcp-name');
  });

  test('before 2026-07-28 there are none', () => {
    expect(mirroredHeaders({ method: 'tools/call', params: { name: 'a' } })).toEqual({});
  });
});

describe('arguments that are mirrored into headers', () => {
  const schema = (property: JsonObject): JsonObject => ({
    type: 'object',
    properties: { region: property },
  });
  const nested = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      page: {
        type: 'object',
        properties: { size: { type: 'integer', 'x-mcp-header': 'Page-Size' } },
      },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
      plain: { type: 'string' },
    },
  };

  verifies('G2-152', 'are found at any depth and sent where they have a value', () => {
    const found = headerParamsOf(nested);
    const params = found.kind === 'valid' ? found.params : [];
    expect(params.map(({ header }) => header)).toEqual(['Region', 'Page-Size', 'Dry']);
    expect(paramHeaders(params, { region: 'nörd', page: { size: 5 }, dry: false })).toEqual({
      'mcp-param-Region': encodeHeaderValue('nörd'),
      'mcp-param-Page-Size': '5',
      'mcp-param-Dry': 'false',
    });
    expect(paramHeaders(params, { region: null, page: 'no object' })).toEqual({});
    expect(paramHeaders(params, { page: { size: 2 ** 60 } })).toEqual({});
  });

  test.each([
    ['on the root', { 'x-mcp-header': 'A' }],
    ['below items', schema({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } })],
    ['below oneOf', { oneOf: [schema({ type: 'string', 'x-mcp-header': 'A' })] }],
    ['in definitions', { $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }],
    ['no header name', schema({ type: 'string', 'x-mcp-header': 'a b' })],
    ['no text', schema({ type: 'string', 'x-mcp-header': 7 })],
    ['of a number', schema({ type: 'number', 'x-mcp-header': 'A' })],
    [
      'twice',
      {
        properties: {
          a: { type: 'string', 'x-mcp-header': 'A' },
          b: { type: 'string', 'x-mcp-header': 'a' },
        },
      },
    ],
  ] satisfies readonly (readonly [string, JsonObject])[])(
    'an annotation %s makes the tool unusable',
    (_where, inputSchema: JsonObject) => {
      expect(headerParamsOf(inputSchema).kind).toBe('invalid');
    },
  );

  test('a tool without any, or without a schema, is fine', () => {
    expect(headerParamsOf(undefined)).toEqual({ kind: 'valid', params: [] });
    expect(
      headerParamsOf(schema({ const: { 'x-mcp-header': 'a value, no annotation' } })),
    ).toMatchObject({ kind: 'valid' });
  });
});
