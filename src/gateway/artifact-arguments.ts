import { isJsonObject, objectAt, stringAt, type JsonObject } from '../kernel/json.ts';

const WORDS =
  'Instead of the content itself, the URI of an artifact that an earlier result linked to may be given ' +
  '(longcall://artifacts/…); its content is put in its place.';

/** An argument that takes text takes a URI as it is; one that takes something else takes a URI as well. */
function withUri(schema: JsonObject): JsonObject {
  const said = stringAt(schema, 'description');
  const description = said === undefined ? WORDS : `${said} ${WORDS}`;
  if (schema['type'] === 'string' || schema['type'] === undefined)
    return { ...schema, description };
  return { description, anyOf: [schema, { type: 'string', pattern: '^longcall://artifacts/' }] };
}

/** A tool's definition that says which of its arguments may name an artifact. */
export function describeArtifactArguments(
  definition: JsonObject,
  names: readonly string[] = [],
): JsonObject {
  const inputSchema = objectAt(definition, 'inputSchema');
  const properties = objectAt(inputSchema, 'properties');
  const described = names.flatMap((name) => {
    const schema = properties?.[name];
    return isJsonObject(schema) ? [[name, withUri(schema)] as const] : [];
  });
  if (described.length === 0) return definition;
  const changed = { ...properties, ...(Object.fromEntries(described) as JsonObject) };
  return { ...definition, inputSchema: { ...inputSchema, properties: changed } };
}
