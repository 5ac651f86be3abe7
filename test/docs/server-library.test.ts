import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

const page = read('docs/reference/server-library.md');

/** Whether the page has the name in code, alone or as the beginning of a call. */
const isNamed = (name: string): boolean =>
  new RegExp(String.raw`\`(?:job\.)?${name}[\`(]`).test(page);

/** Every name that the entry point exports. */
const exported = [...read('src/server.ts').matchAll(/export (?:type )?\{(?<names>[^}]*)\}/g)]
  .flatMap(({ groups }) => (groups?.['names'] ?? '').split(','))
  .map((name) => name.replace(/^\s*type /, '').trim())
  .filter((name) => name !== '');

/** Members of an interface, read from its source. */
function membersOf(path: string, name: string): readonly string[] {
  const body = new RegExp(String.raw`interface ${name}\b[^{]*\{\n([\s\S]*?)^\}`, 'm').exec(
    read(path),
  )?.[1];
  if (body === undefined) throw new Error(`${path} has no interface ${name}`);
  return [...body.matchAll(/^ {2}(?:readonly )?(?<member>\w+)[?(:<]/gm)].map(
    ({ groups }) => groups?.['member'] ?? '',
  );
}

test('the reference names everything that longcall/server exports', () => {
  expect(exported.length).toBeGreaterThan(30);
  expect(exported.filter((name) => !isNamed(name) && !page.includes(`## ${name}`))).toEqual([]);
});

test.each([
  ['src/library/tasks.ts', 'Tasks'],
  ['src/library/tasks.ts', 'TasksOptions'],
  ['src/library/settings.ts', 'Settings'],
  ['src/library/tool-options.ts', 'ToolRules'],
  ['src/library/tool-options.ts', 'ToolOptions'],
  ['src/runtime/steps/context.ts', 'JobContext'],
])('and every member in %s of %s', (path, name) => {
  const members = membersOf(path, name);
  expect(members.length).toBeGreaterThan(2);
  expect(members.filter((member) => !isNamed(member))).toEqual([]);
});

test('it names no member that is not there', () => {
  const known = [
    ...membersOf('src/library/tasks.ts', 'Tasks'),
    ...membersOf('src/library/tasks.ts', 'TasksOptions'),
    ...membersOf('src/library/settings.ts', 'Settings'),
    ...membersOf('src/library/tool-options.ts', 'ToolRules'),
    ...membersOf('src/runtime/steps/context.ts', 'JobContext'),
  ];
  const rows = [...page.matchAll(/^\| (?<cell>`[^|]*`) \|/gm)].map(
    ({ groups }) => groups?.['cell'] ?? '',
  );
  const named = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name ?? ''));
  const heads = ['TasksOptions', 'ToolRules', 'JobContext'];
  expect(named.filter((name) => !known.includes(name) && !heads.includes(name))).toEqual([]);
});
