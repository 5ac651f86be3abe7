import type { OutgoingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { Verb } from '../../identity/permissions.ts';
import type { Principal } from '../../identity/principal.ts';
import type { Face } from '../mcp/face.ts';
import type { Delivery } from '../mcp/reply.ts';

/** One request, read and let in. */
export interface RestVisit<Query = unknown, Body = unknown> {
  readonly face: Face;
  readonly principal: Principal;
  /** Of the path; empty where the route has none. */
  readonly id: string;
  readonly query: Query;
  readonly body: Body;
  header(name: string): string | undefined;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

export interface RestAnswer {
  readonly status: number;
  /** Absent where there is nothing to say (304). */
  readonly document?: object;
  readonly headers?: OutgoingHttpHeaders;
  /** Told once what became of the answer. */
  readonly onDelivery?: (delivery: Delivery) => void;
}

export const REST_METHODS = ['GET', 'POST'] as const;
export type RestMethod = (typeof REST_METHODS)[number];

/** A route as data: what is served and what is documented are made of it. */
export interface RestRoute {
  readonly method: RestMethod;
  /** In the form of OpenAPI: `/jobs/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Asked before any look-up, so that known and unknown ids are refused alike (T42). */
  readonly scope?: Verb;
  readonly query: z.ZodObject;
  /** `optional`: a request without a body is read as `{}`. */
  readonly body?: { readonly schema: z.ZodObject; readonly optional?: boolean };
  readonly headers?: Readonly<Record<string, string>>;
  /** What it answers where all is well: status and schema. */
  readonly answers: Readonly<Record<number, z.ZodType | undefined>>;
  readonly refuses: readonly number[];
  handle(visit: RestVisit): Promise<RestAnswer>;
}

/** A route whose handler gets what its schemas have made of the request. */
export function defineRoute<Query extends z.ZodObject, Body extends z.ZodObject>(
  route: Omit<RestRoute, 'query' | 'body' | 'handle'> & {
    readonly query: Query;
    readonly body?: { readonly schema: Body; readonly optional?: boolean };
    readonly handle: (visit: RestVisit<z.output<Query>, z.output<Body>>) => Promise<RestAnswer>;
  },
): RestRoute {
  return {
    ...route,
    handle: (visit) => route.handle(visit as RestVisit<z.output<Query>, z.output<Body>>),
  };
}
