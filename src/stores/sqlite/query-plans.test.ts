import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { createAttemptStore } from './attempts.ts';
import { createEventStore } from './events.ts';
import { createGroupCommit } from './group-commit.ts';
import { createInputStore } from './inputs.ts';
import { createManifestStore } from './manifests.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.generated.ts';
import { createOperationStore } from './operations.ts';
import { createTables } from './session.ts';
import { createTaskStore } from './tasks.ts';

/** A database that remembers what was prepared on it. */
class RecordingDatabase extends DatabaseSync {
  readonly prepared: string[] = [];

  override prepare(sql: string) {
    this.prepared.push(sql);
    return super.prepare(sql);
  }
}

/** Every statement that the store prepares, with SQLite's plan for it. */
function plansOfStore() {
  const db = new RecordingDatabase(':memory:');
  migrate(db, MIGRATIONS, 0);
  db.prepared.length = 0;
  const session = {
    db,
    commit: createGroupCommit(db, systemClock),
    tables: createTables(db, systemRandom),
  };
  createTaskStore(session);
  createAttemptStore(session);
  createInputStore(session);
  createOperationStore(session);
  createEventStore(session);
  createManifestStore(session);
  return [...db.prepared].map((sql) => ({ sql: sql.trim(), plan: planOf(db, sql) }));
}

function planOf(db: DatabaseSync, sql: string): string {
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return rows.map((row) => String(row['detail'])).join('\n');
}

const plans = plansOfStore();

test('the plans of all statements are looked at', () => {
  expect(plans.length).toBeGreaterThan(50);
  expect(plans.some(({ plan }) => plan.includes('SEARCH tasks USING INDEX'))).toBe(true);
});

/** The turns of principals that were busy since the last sweep: small, and walked through once per sweep. */
const WALKED = 'DELETE FROM turns';

test('no statement walks through the rows of a whole table', () => {
  const walk = /^SCAN (?!.*USING .*INDEX)(?!waiting|CONSTANT|json_each)/m;
  const walks = plans.filter(({ plan }) => walk.test(plan));
  expect(walks.map(({ sql }) => sql.startsWith(WALKED) || sql)).toEqual([true]);
});

test('only what is few is sorted; all other lists come in the order of an index', () => {
  const sorted = plans.filter(({ plan }) => plan.includes('USE TEMP B-TREE FOR ORDER BY'));
  const few = /INDEXED BY tasks_open|id >= :idFrom|FROM inputs WHERE task_seq = /;
  expect(sorted.filter(({ sql }) => !few.test(sql))).toEqual([]);
  expect(sorted).toHaveLength(5);
  const named = sorted.filter(({ sql }) => sql.includes(':idFrom'));
  for (const { plan } of named) expect(plan).toContain('(id>? AND id<?)');
});
