import { z } from 'zod';
import { isJsonObject, objectAt, type Json, type JsonObject } from '../../kernel/json.ts';
import { DEFAULTS, TOOL_DEFAULTS, UPSTREAM_DEFAULTS } from './defaults.ts';
import { configSchema } from './schema.ts';

const ADDRESS_PATTERN = String.raw`^(\[[0-9A-Fa-f:.]+\]|[^:\s\[\]/]+):\d{1,5}$`;

/** The JSON Schema of longcall.yaml, for editors: what the program checks, with its defaults. */
export function configJsonSchema(): JsonObject {
  const made = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-2020-12',
  }) as unknown as JsonObject;
  const upstream = objectAt(propertyOf(made, 'upstreams'), 'additionalProperties') ?? {};
  const tool = objectAt(propertyOf(upstream, 'tools'), 'additionalProperties') ?? {};
  const withTools = setProperty(upstream, 'tools', (tools) => ({
    ...tools,
    additionalProperties: withDefaults(tool, TOOL_DEFAULTS),
  }));
  const upstreams = {
    ...withDefaults(withTools, UPSTREAM_DEFAULTS),
    oneOf: [{ required: ['command'] }, { required: ['url'] }],
  };
  const whole = setProperty(withDefaults(made, DEFAULTS), 'upstreams', (all) => ({
    ...all,
    additionalProperties: upstreams,
  }));
  const { $schema, ...rest } = setProperty(whole, 'listen', withAddresses);
  return { $schema, title: 'longcall.yaml', ...rest, required: ['upstreams'] };
}

function propertyOf(schema: JsonObject, name: string): JsonObject | undefined {
  return objectAt(objectAt(schema, 'properties'), name);
}

function setProperty(
  schema: JsonObject,
  name: string,
  change: (property: JsonObject) => JsonObject,
): JsonObject {
  const property = propertyOf(schema, name) ?? {};
  return { ...schema, properties: { ...objectAt(schema, 'properties'), [name]: change(property) } };
}

/** Adds defaults by name, and makes optional what has one. */
function withDefaults(schema: JsonObject, defaults: Readonly<Record<string, unknown>>): JsonObject {
  const { required: _, ...optional } = schema;
  return Object.entries(defaults).reduce<JsonObject>(
    (made, [name, value]) =>
      setProperty(made, name, (property) =>
        isJsonObject(value)
          ? withDefaults(property, value)
          : { ...property, default: value as Json },
      ),
    optional,
  );
}

function withAddresses(listen: JsonObject): JsonObject {
  const pattern = (property: JsonObject): JsonObject => ({ ...property, pattern: ADDRESS_PATTERN });
  return setProperty(setProperty(listen, 'mcp', pattern), 'admin', pattern);
}
