import type { Engine } from '../engine/engine.ts';
import type { Principal } from '../identity/principal.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Random } from '../kernel/random.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Task } from '../protocol/model.ts';
import type { Access } from '../stores/access.ts';
import type { Store } from '../stores/store.ts';
import type { Announcer } from './announcer.ts';
import type { ArtifactKeeper } from './artifacts/keeper.ts';
import type { CallLabels, CallMeter, RefusalLabels, RepeatLabels } from './call-meter.ts';
import type { Callers } from './callers.ts';
import type { Confirmations } from './confirmations.ts';
import type { ExpiryTally } from './expiry-tally.ts';
import type { RunTool } from './job.ts';
import type { LocalRuns } from './local-runs.ts';
import type { RuntimeLimits } from './limits.ts';
import type { NameInLogs } from './name-in-logs.ts';
import type { QuestionDesk } from './question-desk.ts';
import type { Settler } from './settler.ts';
import type { ToolOf } from './tool.ts';
import type { Waking } from './waking.ts';

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
  /** Absent where nothing is kept apart from messages. */
  readonly keeper: ArtifactKeeper | undefined;
  readonly callers: Callers;
  /** Calls that were recognized as made before. */
  readonly repeats: CallMeter<RepeatLabels>;
  /** Calls for which there was no room. */
  readonly refusals: CallMeter<RefusalLabels>;
  /** Effects that were sent a second time without the ledger's leave: none, ever. */
  readonly duplicates: CallMeter<CallLabels>;
  /** Encrypts what pages send along, for as long as it lies in the records. */
  readonly vault: Vault;
  readonly confirmations: Confirmations;
  readonly mayResume: MayResume;
  readonly expiries: ExpiryTally;
  /** Wakes parked attempts whose time has come. */
  readonly waking: Waking;
  /** Aborted when the process gives up its waits. */
  readonly closing: AbortSignal;
  /** Tasks whose run came to no settlement here although this process goes on: the next sweep judges them. */
  readonly strays: Set<string>;
}

/**
 * Whether work may go on in the name of its owner, who need not be there: asked before each attempt that follows on an
 * earlier one, so that a grant that was taken back in the meantime counts (decision 2).
 */
export type MayResume = (task: Task) => boolean | Promise<boolean>;

/** In whose name the store is asked. */
export const accessOf = (principal: Principal): Access => ({
  owner: principal.key,
  tenant: principal.tenant,
});
