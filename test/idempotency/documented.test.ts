import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/gateway/config/load.ts';
import { FACE_CODES } from '../../src/faces/mcp/error-codes.ts';
import {
  DEDUPLICATED_META,
  IDEMPOTENCY_KEY_META,
  NEW_OPERATION_META,
  NOTE_META,
  OPERATION_ID_META,
} from '../../src/protocol/names.ts';
import { KEY_BYTES_MAX, ANONYMOUS_KEY_BYTES_MIN } from '../../src/runtime/idempotency/call-key.ts';

const read = (page: string): string =>
  readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
const page = read('how-to/make-retries-safe.md');

const blocksOf = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );

test('its configurations are valid, and say what they are said to say', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longcall-documented-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = blocksOf('yaml').map((yaml) => {
    writeFileSync(join(folder, 'longcall.yaml'), yaml);
    const { config } = loadConfig({ cwd: folder, env: {} });
    return config.upstreams[0]?.tools['pay_invoice']?.idempotency;
  });
  expect(rules).toEqual([{ argument: 'request_id' }, { from: ['invoice'] }]);
});

test('its messages are JSON', () => {
  expect(blocksOf('json').map((json) => typeof JSON.parse(json))).toEqual(['object', 'object']);
});

test('it names what there is by its names', () => {
  for (const name of [
    IDEMPOTENCY_KEY_META,
    NEW_OPERATION_META,
    DEDUPLICATED_META,
    OPERATION_ID_META,
    NOTE_META,
    `error ${FACE_CODES.conflict}`,
    `at most ${KEY_BYTES_MAX} bytes`,
  ])
    expect(page).toContain(name);
  expect(read('explanation/without-identity.md')).toContain(`${ANONYMOUS_KEY_BYTES_MIN} bytes`);
});
