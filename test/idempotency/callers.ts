import type { JsonObject } from '../../src/kernel/json.ts';
import { objectAt } from '../../src/kernel/json.ts';
import type { Job } from '../../src/runtime/job.ts';
import type { ServedTool } from '../../src/runtime/tool.ts';
import { createKit, tool, type Kit, type KitOptions } from '../faces/face-kit.ts';
import { caller2025, caller2026, resultOf, WITH_FORMS, type Answer } from '../faces/wire.ts';
import { answered } from '../runtime/receiving-side.ts';

export const KEY = 'dev.longcall/idempotencyKey';
export const NEW_OPERATION = 'dev.longcall/newOperation';
export const DEDUPLICATED = 'dev.longcall/deduplicated';
export const OPERATION_ID = 'dev.longcall/operationId';
export const NOTE = 'dev.longcall/note';

/** Who calls, as far as the shape of the answer goes. */
export const CALLER_KINDS = ['2025-task', '2025-plain', '2026-tasks', '2026-plain'] as const;
export type Kind = (typeof CALLER_KINDS)[number];

export interface Sent {
  readonly args?: JsonObject;
  readonly meta?: JsonObject;
  readonly token?: string;
  readonly tool?: string;
}

/** A payment that a test steers: its runs, and what callers of each kind send and get. */
export interface Bank {
  readonly kit: Kit;
  readonly url: string;
  /** The runs that have begun so far, dispatched. */
  readonly runs: readonly Job[];
  /** Waits for the next run and lets it send. */
  nextRun(): Promise<Job>;
  pay(kind: Kind, sent?: Sent): Promise<Answer>;
}

export const payTool = (but: Partial<ServedTool> = {}): ServedTool =>
  tool('gated', { effect: 'consequential', ...but });

export const PAID = answered('paid');
export const INVOICE: JsonObject = { invoice: 'i-1', amount: { value: 10, currency: 'EUR' } };

export async function openBank(options: KitOptions = {}): Promise<Bank> {
  const kit = await createKit({ tools: [payTool()], ...options });
  const { url } = await kit.http();
  const runs: Job[] = [];
  const sessions = new Map<string, ReturnType<typeof caller2025>>();
  const sessionOf = (token: string): ReturnType<typeof caller2025> => {
    const known = sessions.get(token) ?? caller2025(url, token);
    sessions.set(token, known);
    return known;
  };
  const pay: Bank['pay'] = async (kind, sent = {}) => {
    const { args = INVOICE, meta = {}, token = 'alice', tool: name = 'gated' } = sent;
    if (kind === '2026-tasks') return caller2026(url, token).tool(name, args, { meta });
    if (kind === '2026-plain')
      return caller2026(url, token).tool(name, args, { meta, capabilities: WITH_FORMS });
    const session = await sessionOf(token);
    return session.tool(name, args, { meta, ...(kind === '2025-task' ? { task: {} } : {}) });
  };
  return {
    kit,
    url,
    runs,
    pay,
    async nextRun() {
      const job = await kit.gate.next();
      await job.dispatched();
      runs.push(job);
      return job;
    },
  };
}

/** The handle in an answer, whatever the generation. */
export function handleIn(answer: Answer): string | undefined {
  const result = resultOf(answer);
  const id = objectAt(result, 'task')?.['taskId'] ?? result['taskId'];
  return typeof id === 'string' ? id : undefined;
}

export const metaIn = (answer: Answer): JsonObject => objectAt(resultOf(answer), '_meta') ?? {};
