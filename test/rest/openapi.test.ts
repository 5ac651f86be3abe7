import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { JOB_ROUTES } from '../../src/faces/rest/job-routes.ts';
import { ERROR_CATALOGUE } from '../../src/kernel/errors.ts';
import { objectAt, type JsonObject } from '../../src/kernel/json.ts';
import { tool } from '../faces/face-kit.ts';
import { createJobSite } from '../job-tools/hosts.ts';
import { OPENAPI, restClient } from './rest-client.ts';

const page = readFileSync(new URL('../../docs/reference/rest-api.md', import.meta.url), 'utf8');

test('what is served is what is documented', async () => {
  const { origin } = await createJobSite({ tools: [tool('echo')] });
  const { body } = await restClient(origin).ask('/openapi.json');
  expect(body).toEqual(OPENAPI);
  expect(body['openapi']).toBe('3.1.0');
});

test('every reference in the document leads somewhere', () => {
  const schemas = objectAt(objectAt(OPENAPI, 'components'), 'schemas') ?? {};
  const references = [
    ...JSON.stringify(OPENAPI).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g),
  ];
  expect(references.length).toBeGreaterThan(10);
  for (const [, name = ''] of references) expect(schemas[name], name).toBeDefined();
  const used = new Set(references.map(([, name = '']) => name));
  expect(Object.keys(schemas).toSorted()).toEqual([...used].toSorted());
});

test('every route is on the page, and none that is not served', () => {
  const served = JOB_ROUTES.map(({ method, path }) => `${method} ${path}`);
  const documented = [...page.matchAll(/^\| `((?:GET|POST) \/[^`]*)` \|/gm)].map(
    ([, route = '']) => route,
  );
  expect(documented.toSorted()).toEqual([...served, 'GET /openapi.json'].toSorted());
});

test('the scope of each route is on the page', () => {
  for (const { method, path, scope } of JOB_ROUTES) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${method} ${path}\` |`));
    expect(row).toContain(`\`${scope ?? ''}\``);
  }
});

test('every code that is named on the page exists', () => {
  const codes = [...page.matchAll(/LONGCALL_[A-Z_]+/g)].map(([code]) => code);
  expect(codes.length).toBeGreaterThan(5);
  for (const code of codes) expect(Object.keys(ERROR_CATALOGUE)).toContain(code);
});

test('the example of a job has exactly the members of a real one', async () => {
  const { origin } = await createJobSite({ tools: [tool('pay', { effect: 'consequential' })] });
  const { body } = await restClient(origin).start({ tool: 'pay', waitMs: 0 });
  const example = JSON.parse(
    /```json job\n(\{[\s\S]*?\n\})\n```/.exec(page)?.[1] ?? '{}',
  ) as JsonObject;
  expect(shapeOf(example)).toEqual(shapeOf(body));
});

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'object' || value === null) return 'value';
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
