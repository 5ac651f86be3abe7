import type { Engine } from '../engine/engine.ts';
import type { Principal } from '../identity/principal.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { Access } from '../stores/access.ts';
import type { Store } from '../stores/store.ts';
import type { Announcer } from './announcer.ts';
import type { RunTool } from './job.ts';
import type { LocalRuns } from './local-runs.ts';
import type { RuntimeLimits } from './limits.ts';
import type { NameInLogs } from './name-in-logs.ts';
import type { QuestionDesk } from './question-desk.ts';
import type { Settler } from './settler.ts';
import type { ToolOf } from './tool.ts';

/** What the parts of the runtime share. */
export interface Core {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly nameInLogs: NameInLogs;
  readonly limits: RuntimeLimits;
  readonly bootId: string;
  readonly run: RunTool;
  readonly toolOf: ToolOf;
  readonly announcer: Announcer;
  readonly desk: QuestionDesk;
  readonly runs: LocalRuns;
  readonly settler: Settler;
  /** Aborted when the process gives up its waits. */
  readonly closing: AbortSignal;
  /** Tasks whose run came to no settlement here although this process goes on: the next sweep judges them. */
  readonly strays: Set<string>;
}

/** In whose name the store is asked. */
export const accessOf = (principal: Principal): Access => ({
  owner: principal.key,
  tenant: principal.tenant,
});
