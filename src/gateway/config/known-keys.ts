import { z } from 'zod';
import type { ConfigPath } from './problems.ts';
import { configSchema } from './schema.ts';

/** The keys that the schema knows in the mapping at that path. */
export function knownKeysAt(path: ConfigPath): readonly string[] {
  const schema = path.reduce<z.core.$ZodType | undefined>(memberOf, configSchema);
  const mapping = unwrap(schema);
  return mapping instanceof z.ZodObject ? Object.keys(mapping.shape) : [];
}

function memberOf(
  schema: z.core.$ZodType | undefined,
  key: string | number,
): z.core.$ZodType | undefined {
  const mapping = unwrap(schema);
  if (mapping instanceof z.ZodRecord) return mapping.valueType;
  return mapping instanceof z.ZodObject
    ? (mapping.shape as Readonly<Record<string, z.core.$ZodType>>)[key]
    : undefined;
}

function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema;
}
