import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configJsonSchema } from './json-schema.ts';

test('the published JSON Schema is what the program checks', () => {
  const published: unknown = JSON.parse(
    readFileSync(new URL('../../../schema/longcall.schema.json', import.meta.url), 'utf8'),
  );
  expect(published, 'run `node scripts/write-schema.ts`').toEqual(configJsonSchema());
});

test('it refuses unknown keys at every level and names every default', () => {
  const text = JSON.stringify(configJsonSchema());
  expect(text.match(/"type":"object","properties"/g)?.length).toBe(
    text.match(/"additionalProperties":false/g)?.length,
  );
  expect(text).toContain('"default":"127.0.0.1:8787"');
  expect(text).toContain('"default":"2s"');
});
