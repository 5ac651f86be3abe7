import { objectAt, type JsonObject } from '../../kernel/json.ts';
import type { IdempotencyPolicy } from '../tool.ts';
import { KEY_BYTES_MAX } from './call-key.ts';

const ABOUT =
  'Optional. A name for this one call, such as a UUID: send the same again when you repeat the call, and it is done only once.';

interface Listed {
  readonly definition: JsonObject;
  readonly idempotency?: IdempotencyPolicy;
}

/**
 * Adds the key argument to a tool's listed schema, never as a required one. Where the tool has an argument of that name
 * itself, its schema stays as it is, and what is given there is passed on.
 */
export function listKeyArgument({ definition, idempotency }: Listed): Listed {
  const name = idempotency?.argument;
  if (!idempotency || name === undefined) return { definition };
  const schema = objectAt(definition, 'inputSchema') ?? { type: 'object' };
  const properties = objectAt(schema, 'properties') ?? {};
  if (Object.hasOwn(properties, name))
    return { definition, idempotency: { ...idempotency, keepArgument: true } };
  const key = { type: 'string', maxLength: KEY_BYTES_MAX, description: ABOUT };
  const inputSchema = { ...schema, properties: { ...properties, [name]: key } };
  return { definition: { ...definition, inputSchema }, idempotency };
}
