import type { JsonSchemaType } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { expect } from 'vitest';
import { isJsonObject, objectAt, type JsonObject } from '../../src/kernel/json.ts';
import { JOB_ROUTES } from '../../src/faces/rest/job-routes.ts';
import { openApiDocument } from '../../src/faces/rest/openapi.ts';
import { auth } from '../faces/wire.ts';

/** The published document: every answer that a test gets is held against it. */
export const OPENAPI = openApiDocument(JOB_ROUTES, '0.0.0-test');

export interface RestReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: JsonObject;
}

export interface RestRequest {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a text as it is. */
  readonly body?: JsonObject | string;
  readonly signal?: AbortSignal;
}

/** The path of the document that a URL belongs to. */
function documented(path: string): JsonObject | undefined {
  const paths = objectAt(OPENAPI, 'paths') ?? {};
  const wanted = path.split('?')[0] ?? '';
  const found = Object.keys(paths).find((known) =>
    new RegExp(`^${known.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(wanted),
  );
  return objectAt(paths, found ?? '');
}

const validator = new AjvJsonSchemaValidator();

/** What the document says of an answer: a status it does not name, or a body that does not fit, is a failure. */
export function assertDocumented(method: string, path: string, reply: RestReply): void {
  const route = objectAt(documented(path), method.toLowerCase());
  if (!route) return;
  const response = objectAt(objectAt(route, 'responses'), String(reply.status));
  expect(response, `${method} ${path} answered ${reply.status}: ${reply.text}`).toBeDefined();
  const content = objectAt(response, 'content');
  if (!content) return expect(reply.text).toBe('');
  const [type = '', media] = Object.entries(content)[0] ?? [];
  expect(reply.headers.get('content-type')).toBe(type);
  const own = objectAt(isJsonObject(media) ? media : undefined, 'schema');
  const schema: JsonSchemaType = { ...own, components: OPENAPI['components'] } as JsonObject;
  const checked = validator.getValidator(schema)(reply.body);
  expect(checked.valid ? '' : checked.errorMessage, `${method} ${path}: ${reply.text}`).toBe('');
}

/** A program that speaks REST. */
export interface RestClient {
  ask(path: string, request?: RestRequest): Promise<RestReply>;
  start(start: JsonObject, request?: RestRequest): Promise<RestReply>;
}

export function restClient(origin: string, token: string | undefined = 'alice'): RestClient {
  const ask: RestClient['ask'] = async (path, request = {}) => {
    const { method = 'GET', body } = request;
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...auth('token' in request ? request.token : token),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(request.signal ? { signal: request.signal } : {}),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    const reply = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJsonObject(parsed) ? parsed : {},
    };
    assertDocumented(method, path, reply);
    return reply;
  };
  return {
    ask,
    start: (start, request = {}) => ask('/jobs', { ...request, method: 'POST', body: start }),
  };
}

export const idOf = ({ body }: RestReply): string => String(body['id']);
