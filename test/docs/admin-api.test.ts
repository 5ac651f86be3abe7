import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TASK_SIDES, OPERATION_SIDES, READINGS, readingOf } from '../../src/runtime/two-answers.ts';
import type { ReadingName } from '../../src/runtime/two-answers.ts';
import { ask, openDoor, read } from '../admin/door.ts';
import type { Door } from '../admin/door.ts';
import { endTask, recordTask } from '../admin/records.ts';

const page = readFileSync(new URL('../../docs/reference/admin-api.md', import.meta.url), 'utf8');

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

test('every route is on the page, and none that is not served', () => {
  const served = door.routes.filter((route) => !route.endsWith('/*'));
  const documented = [...page.matchAll(/^\| `((?:GET|POST) \/[^`]*)` \|/gm)].map(
    ([, route = '']) => route,
  );
  expect(documented.toSorted()).toEqual(served.toSorted());
});

describe('the table of readings', () => {
  const rows = [
    ...page.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| (.+) \| (.+) \| `([a-z_]+)` \|$/gm),
  ];
  const namesIn = (text: string) =>
    [...text.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name as ReadingName);

  test('has each reading once, with what it says about sending again', () => {
    const names = rows.flatMap(([, first = '']) => namesIn(first));
    expect(names.toSorted()).toEqual(Object.keys(READINGS).toSorted());
    for (const [, first = '', , , sendAgain] of rows)
      for (const name of namesIn(first)) expect(READINGS[name].sendAgain, name).toBe(sendAgain);
  });

  test('names the states of the operation that lead to it', () => {
    for (const [, first = '', , operations = ''] of rows) {
      const states = operations
        .split(', ')
        .filter((word) => (OPERATION_SIDES as readonly string[]).includes(word));
      const leading = TASK_SIDES.flatMap((task) =>
        OPERATION_SIDES.filter((side) => namesIn(first).includes(readingOf(task, side).name)),
      ).filter((side) => side !== 'none' && side !== 'missing');
      expect(states.toSorted(), first).toEqual([...new Set(leading)].toSorted());
    }
  });
});

test('a task has exactly the members of the example', async () => {
  const task = await recordTask(door.store, { tool: 'pay', effect: 'consequential' });
  await endTask(door.store, task.id);
  const { items } = await read<{ items: object[] }>(door, '/admin/v1/tasks');
  const example = JSON.parse(/```json\n(\{[\s\S]*?\n\})\n```/.exec(page)?.[1] ?? '') as object;
  expect(shapeOf(example)).toEqual(shapeOf({ schemaVersion: 1, ...items[0] }));
});

test('every metric that is exposed is on the page', async () => {
  const text = await (await ask(door, '/metrics')).text();
  const exposed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const rows = [
    ...page.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| (gauge|counter|histogram) \|/gm),
  ];
  const documented = rows.flatMap(([, names = '', type]) =>
    [...names.matchAll(/`([a-z_]+)`/g)].map(([, name]) => `${name} ${type}`),
  );
  expect(documented.toSorted()).toEqual(exposed.toSorted());
});

function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return 'value';
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
