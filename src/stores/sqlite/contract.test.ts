import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { systemRandom } from '../../kernel/random.ts';
import { describeArtifacts } from '../contract/artifacts.ts';
import { describeAttempts } from '../contract/attempts.ts';
import { describeEvents } from '../contract/events.ts';
import { describeHistories } from '../contract/history.ts';
import { describeInputs } from '../contract/inputs.ts';
import { describeJournal } from '../contract/journal.ts';
import { describeManifests } from '../contract/manifests.ts';
import { describeOpenQuestions } from '../contract/open-questions.ts';
import { describeOperations } from '../contract/operations.ts';
import type { OpenedScene } from '../contract/scene.ts';
import { createSetClock } from '../contract/scene.ts';
import { describeStore } from '../contract/store.ts';
import { describeTasks } from '../contract/tasks.ts';
import { createSqliteStore } from './store.ts';

const LONG = process.env['LONGCALL_TEST_LONG'] === '1';
const SEED = Number(process.env['LONGCALL_TEST_SEED'] ?? 20_261_201);

async function openInMemory(): Promise<OpenedScene> {
  const clock = createSetClock();
  const store = await createSqliteStore({ path: ':memory:', clock, random: systemRandom });
  return { store, clock, dispose: () => store.close() };
}

async function openOnDisk(): Promise<OpenedScene> {
  const clock = createSetClock();
  const directory = mkdtempSync(join(tmpdir(), 'longcall-store-'));
  const open = () =>
    createSqliteStore({ path: join(directory, 'longcall.db'), clock, random: systemRandom });
  let store = await open();
  return {
    store,
    clock,
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
    dispose: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Opening a file waits for the disk, so fewer histories are played there. */
describe.each([
  ['in memory', openInMemory, LONG ? 2000 : 60],
  ['in a file', openOnDisk, LONG ? 300 : 10],
] as const)('SQLite %s', (_where, open, runs) => {
  describeStore(open);
  describeTasks(open);
  describeAttempts(open);
  describeInputs(open);
  describeOpenQuestions(open);
  describeJournal(open);
  describeOperations(open);
  describeEvents(open);
  describeArtifacts(open);
  describeManifests(open);
  describeHistories(open, { runs, seed: SEED });
});
