import { createManualClock, type ManualClock } from '../../src/kernel/manual-clock.ts';
import type { Task } from '../../src/protocol/model.ts';
import type { JobContext } from '../../src/runtime/steps/context.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import {
  clockAfter,
  createReceivingSide,
  payTool,
  readTool,
  type ReceivingSide,
  type SideOptions,
} from './receiving-side.ts';

export const journalledTool: ServedTool = { ...payTool, name: 'deploy', journalled: true };
export const journalledRead: ServedTool = { ...readTool, name: 'summarize', journalled: true };

export type Handler = (job: JobContext) => unknown;

export interface JournalledSide extends ReceivingSide {
  readonly clock: ManualClock;
  /** A call of the journalled tool. */
  begin(tool?: ServedTool): Promise<Task>;
  /** Sudden death, and the next process on the same file. */
  dieAndRise(handler?: Handler): Promise<JournalledSide>;
}

export interface JournalledSideOptions extends Omit<SideOptions, 'run' | 'handle' | 'clock'> {
  readonly handler: Handler;
  readonly clock?: ManualClock;
}

/** A receiving side whose tools keep a journal, open and at work. */
export async function createJournalledSide(
  options: JournalledSideOptions,
): Promise<JournalledSide> {
  const { handler, clock = createManualClock(), ...rest } = options;
  const side = await createReceivingSide({
    tools: [journalledTool, journalledRead],
    ...rest,
    clock,
    run: () => Promise.reject(new Error('every tool here keeps a journal')),
    handle: ({ context }) => handler(context),
  });
  await side.open();
  return {
    ...side,
    clock,
    begin: async (tool = journalledTool) => {
      const task = await side.call({ tool });
      await side.runtime.receiver.handleGiven(task.id);
      return task;
    },
    async dieAndRise(next = handler) {
      await side.die();
      return createJournalledSide({
        ...options,
        path: side.path,
        clock: clockAfter(clock),
        handler: next,
      });
    },
  };
}

/** A tool's result with that text. */
export const result = (said: string): unknown => ({ content: [{ type: 'text', text: said }] });
