import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { PROBLEM_TYPE } from './problems.ts';
import type { RestRoute } from './route.ts';
import { problemSchema } from './schemas.ts';

export const OPENAPI_PATH = '/openapi.json';

const SCHEMAS = '#/components/schemas/';

/**
 * The JSON Schema of a schema of ours. `input`: as requests may send it, before defaults are laid under. `output`: what
 * is answered, where new members may come at any time.
 */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const made = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    override({ jsonSchema: each }) {
      if (io === 'output') delete each.additionalProperties;
    },
  }) as unknown as JsonObject;
  const { $schema: _, ...rest } = made;
  return rest;
}

/** Schemas are named by their titles. */
const nameOf = (schema: z.ZodType): string => schema.meta()?.title ?? 'Unnamed';

const content = (type: string, schema: z.ZodType): JsonObject => ({
  [type]: { schema: { $ref: SCHEMAS + nameOf(schema) } },
});

function responses({ answers, refuses }: RestRoute): JsonObject {
  const good = Object.entries(answers).map(([status, schema]) => [
    status,
    {
      description: STATUS_CODES[status] ?? '',
      ...(schema === undefined ? {} : { content: content('application/json', schema) }),
    },
  ]);
  const bad = refuses.map((status) => [
    String(status),
    {
      description: STATUS_CODES[status] ?? '',
      content: content(PROBLEM_TYPE, problemSchema),
    },
  ]);
  return Object.fromEntries([...good, ...bad]) as JsonObject;
}

function parameters({ path, query, headers = {} }: RestRoute): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const shape = jsonSchema(query, 'input')['properties'];
  const inQuery = Object.entries(isJsonObject(shape) ? shape : {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }));
  const inHeaders = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeaders];
}

function operation(route: RestRoute): JsonObject {
  const { operationId, summary, scope, body } = route;
  const given = parameters(route);
  return {
    operationId,
    summary: scope === undefined ? summary : `${summary} Scope: ${scope}.`,
    ...(given.length === 0 ? {} : { parameters: given }),
    ...(body === undefined || body.optional === true
      ? {}
      : { requestBody: { required: true, content: content('application/json', body.schema) } }),
    responses: responses(route),
  };
}

function pathsOf(routes: readonly RestRoute[]): JsonObject {
  const paths = new Map<string, JsonObject>();
  for (const route of routes)
    paths.set(route.path, {
      ...paths.get(route.path),
      [route.method.toLowerCase()]: operation(route),
    });
  return Object.fromEntries(paths);
}

function schemasOf(routes: readonly RestRoute[]): JsonObject {
  const bodies = routes.flatMap(({ body }) =>
    body === undefined || body.optional === true ? [] : [body.schema],
  );
  const answers = routes.flatMap((route) => Object.values(route.answers)).filter((each) => !!each);
  const named = [
    ...bodies.map((schema) => [nameOf(schema), jsonSchema(schema, 'input')] as const),
    ...[...answers, problemSchema].map(
      (schema) => [nameOf(schema), jsonSchema(schema, 'output')] as const,
    ),
  ];
  return Object.fromEntries(named);
}

/** What the REST job API serves, as OpenAPI 3.1: made of the routes and schemas that serve it. */
export const openApiDocument = (routes: readonly RestRoute[], version: string): JsonObject => ({
  openapi: '3.1.0',
  info: {
    title: 'longcall REST job API',
    version,
    description:
      'Starts tool calls as jobs that outlive their request, and reads what became of them.',
  },
  paths: pathsOf(routes),
  components: {
    schemas: schemasOf(routes),
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
  security: [{ token: [] }],
});
