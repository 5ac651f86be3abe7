import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VERBS } from '../../identity/permissions.ts';
import { objectAt, type JsonObject } from '../../kernel/json.ts';
import { CONFIG_VARIABLES, variableOf } from './environment.ts';
import { configJsonSchema } from './json-schema.ts';
import { loadConfig } from './load.ts';
import { parseTokens } from './tokens-file.ts';

const PATH = new URL('../../../docs/reference/configuration.md', import.meta.url);
const page = readFileSync(PATH, 'utf8');

interface Key {
  readonly path: string;
  readonly standard: unknown;
  readonly about: unknown;
}

/** The keys that hold values, as the published schema has them. */
function keysOf(schema: JsonObject, path: string): readonly Key[] {
  const properties = Object.entries(objectAt(schema, 'properties') ?? {});
  const below = properties.flatMap(([name, property]) =>
    keysOf(property as JsonObject, path === '' ? name : `${path}.${name}`),
  );
  const members = objectAt(schema, 'additionalProperties');
  const named = members?.['properties'] === undefined ? [] : keysOf(members, `${path}.*`);
  const own =
    properties.length > 0
      ? []
      : [{ path, standard: schema['default'], about: schema['description'] }];
  return [...own, ...below, ...named];
}

const keys = keysOf(configJsonSchema(), '');
const rows = new Map(
  [...page.matchAll(/^\| `(?<path>[\w.*]+)` \| (?<standard>[^|]*) \| (?<about>[^|]+) \|$/gm)].map(
    ({ groups }) => [
      groups?.['path'],
      { standard: groups?.['standard']?.trim(), about: groups?.['about']?.trim() },
    ],
  ),
);

describe('docs/reference/configuration.md', () => {
  test('has every key of the schema and no other', () => {
    expect(keys.length).toBeGreaterThan(30);
    expect(new Set(rows.keys())).toEqual(new Set(keys.map(({ path }) => path)));
  });

  test.each(keys)('says of $path what the schema says', ({ path, standard, about }) => {
    const text =
      standard === undefined
        ? ''
        : `\`${typeof standard === 'string' ? standard : JSON.stringify(standard)}\``;
    expect(rows.get(path)).toEqual({ standard: text, about });
  });

  test('its examples are valid', () => {
    const [config, tokens] = [/```yaml\n([\s\S]*?)```/, /```yaml tokens\n([\s\S]*?)```/].map(
      (block) => block.exec(page)?.[1] ?? '',
    );
    expect(parseTokens(tokens ?? '', 'tokens.yaml')).toHaveLength(2);
    const folder = mkdtempSync(join(tmpdir(), 'longcall-documented-'));
    writeFileSync(join(folder, 'longcall.yaml'), config ?? '');
    const { config: loaded } = loadConfig({ cwd: folder, env: { REPORTS_KEY: 'k' } });
    expect(loaded.upstreams[0]?.tools['export_report']).toMatchObject({
      effect: 'read',
      runLimitMs: 7_200_000,
    });
    rmSync(folder, { recursive: true });
  });

  test('names variables as they are made', () => {
    for (const [name] of page.matchAll(/LONGCALL_(?:LISTEN|LIMITS|UPSTREAM)\w*/g))
      expect(CONFIG_VARIABLES).toContain(name);
    expect(variableOf(['limits', 'perTool', 'running'])).toBe('LONGCALL_LIMITS_PER_TOOL_RUNNING');
  });

  test('names every scope', () => {
    expect(VERBS.filter((verb) => !page.includes(`\`${verb}\``))).toEqual([]);
  });
});
