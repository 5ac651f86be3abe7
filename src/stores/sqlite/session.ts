import type { DatabaseSync } from 'node:sqlite';
import type { Random } from '../../kernel/random.ts';
import { createAttemptTable } from './attempt-table.ts';
import type { AttemptTable } from './attempt-table.ts';
import { createClaimTable } from './claim-table.ts';
import type { ClaimTable } from './claim-table.ts';
import { createEffectTable } from './effect-table.ts';
import type { EffectTable } from './effect-table.ts';
import { createEventLog } from './event-log.ts';
import type { EventLog } from './event-log.ts';
import type { GroupCommit } from './group-commit.ts';
import { createInputTable } from './input-table.ts';
import type { InputTable } from './input-table.ts';
import { createJournalTable } from './journal-table.ts';
import type { JournalTable } from './journal-table.ts';
import { createOperationTable } from './operation-table.ts';
import type { OperationTable } from './operation-table.ts';
import { createRepeatTable } from './repeat-table.ts';
import type { RepeatTable } from './repeat-table.ts';
import { createSleepTable } from './sleep-table.ts';
import type { SleepTable } from './sleep-table.ts';
import { createTaskTable } from './task-table.ts';
import type { TaskTable } from './task-table.ts';

/**
 * The rows of each aggregate, one statement at a time. Everything here runs inside a transaction that a port has
 * begun: the ports decide what belongs together, the tables only know their own rows.
 */
export interface Tables {
  readonly tasks: TaskTable;
  readonly attempts: AttemptTable;
  readonly sleeping: SleepTable;
  readonly inputs: InputTable;
  readonly journal: JournalTable;
  readonly operations: OperationTable;
  readonly effects: EffectTable;
  readonly repeats: RepeatTable;
  readonly claims: ClaimTable;
  readonly events: EventLog;
}

/** One open connection with what the ports share on it. */
export interface Session {
  readonly db: DatabaseSync;
  readonly commit: GroupCommit;
  readonly tables: Tables;
}

export function createTables(db: DatabaseSync, random: Random): Tables {
  const events = createEventLog(db, random);
  const operations = createOperationTable(db, events);
  return {
    tasks: createTaskTable(db),
    attempts: createAttemptTable(db),
    sleeping: createSleepTable(db),
    inputs: createInputTable(db),
    journal: createJournalTable(db),
    operations,
    effects: createEffectTable(db, { operations, events }),
    repeats: createRepeatTable(db),
    claims: createClaimTable(db),
    events,
  };
}
