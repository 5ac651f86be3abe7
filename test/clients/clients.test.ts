import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { EVERYTHING_OVER_HTTP, ROWS } from '../upstreams/rows.ts';
import { COLUMNS } from './columns.ts';
import { compatibilityPage } from './compatibility-page.ts';
import { OPERATIONS } from './operations.ts';
import type { Operation } from './operations.ts';
import { createSite } from './place.ts';
import type { Place, Site } from './place.ts';
import { rowName } from './real-client.ts';
import type { ClientRow, EmptyCell, Era, RealClient } from './real-client.ts';
import { CLIENTS } from './table.ts';

/** Commands start a process for each thing that they do, on a machine with other things to do. */
const CELL_MS = 120_000;

/** What a cell shows, by the generation of its row. The list brings the schema that the plain call's result is held to. */
const SHOWS: Readonly<Record<Era, Readonly<Record<Operation, readonly string[]>>>> = {
  '2025-11-25': {
    connect: ['G1-16'],
    list: ['G1-41'],
    'plain call': ['G1-41'],
    task: ['G1-01', 'G1-20', 'G1-25'],
    poll: ['G1-32'],
    result: ['G1-35', 'G1-36'],
    input: ['G1-42', 'T3'],
    cancel: ['G1-67', 'G1-68'],
    progress: ['G1-142'],
    reconnect: ['T12'],
  },
  '2026-07-28': {
    connect: ['G2-13'],
    list: ['G2-46'],
    'plain call': ['G2-46'],
    task: ['G2-01', 'G2-26'],
    poll: ['G2-38', 'G2-39'],
    result: ['G2-41', 'T22'],
    input: ['G2-47'],
    cancel: ['G2-86', 'G2-87'],
    progress: ['G2-168'],
    reconnect: ['G2-161'],
  },
};

const personOf = (row: ClientRow): string => `row-${CLIENTS.indexOf(row) + 1}`;

const emptyCells = ({ empty = {} }: ClientRow): ReadonlySet<EmptyCell> =>
  new Set(Object.values(empty));

let site: Site;
beforeAll(async () => {
  site = await createSite(CLIENTS.map(personOf));
});
afterAll(() => site.remove());

const ELSEWHERE = CLIENTS.flatMap((row) => {
  const obstacle = row.cannotRun?.();
  return obstacle === undefined ? [] : [{ name: rowName(row), obstacle }];
});
for (const { name, obstacle } of ELSEWHERE)
  process.stderr.write(`not shown here: ${name}: ${obstacle}\n`);

test.for(ELSEWHERE)('$name is not shown here: $obstacle', ({ obstacle }, { skip }) =>
  skip(obstacle),
);

const HERE = CLIENTS.filter((row) => row.cannotRun?.() === undefined);

describe.concurrent('real clients', () => {
  describe.each(HERE.map((row) => [rowName(row), row] as const))('%s', (_name, row) => {
    // A row is played in order, beside the others.
    describe('operations', { concurrent: false }, () => {
      let place: Place;
      let opened: RealClient | undefined;
      beforeAll(async () => {
        place = site.place(personOf(row), row.transport);
        opened = await row.open(place);
      }, CELL_MS);
      afterAll(() => opened?.close(), CELL_MS);

      const client = (): RealClient => {
        if (!opened) throw new Error('there is no client');
        return opened;
      };

      const reconnect = async (): Promise<RealClient> => {
        await client().close();
        opened = await row.open(place);
        return opened;
      };
      for (const operation of OPERATIONS.filter((one) => row.empty?.[one] === undefined)) {
        const tag = `${personOf(row)}-${operation.replace(' ', '-')}`;
        const show = () => COLUMNS[operation]({ client: client(), place, tag, reconnect });
        verifies(SHOWS[row.era][operation], operation, show, CELL_MS);
      }
      for (const cell of emptyCells(row)) {
        const empty = OPERATIONS.filter((operation) => row.empty?.[operation] === cell);
        test(`not ${empty.join(', ')}: ${cell.reason}`, () => cell.holds(client(), place), CELL_MS);
      }
    });
  });
});

test('the page about compatibility is what the table says', async () => {
  await expect(compatibilityPage(CLIENTS, [...ROWS, EVERYTHING_OVER_HTTP])).toMatchFileSnapshot(
    '../../docs/reference/compatibility.md',
  );
});
