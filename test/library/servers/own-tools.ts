import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { JobContext, Tasks, ToolServer } from '../../../src/server.ts';
import { recordEffect, wasRecorded } from '../../fixtures/upstreams/effects-log.ts';

const LOOK_MS = 10;

/** Resolves once the file is there: how a test lets a handler go on. */
async function fileIsThere(file: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(file)) await pause(LOOK_MS, undefined, { signal });
}

const note = (tag: string, event: 'start' | 'finish' | 'cancelled', detail: string): void =>
  recordEffect({ tool: 'own', tag, event, detail });

/** Three named steps; the second waits for a file. Each step says in the log that it was really done. */
async function report({ tag, gate }: { tag: string; gate: string }, job: JobContext) {
  const query = await job.step('query', () => {
    note(tag, 'start', 'query');
    return `rows of ${tag}`;
  });
  job.progress(1, 3, 'queried');
  await job.step('wait', async ({ signal }) => {
    note(tag, 'start', 'wait');
    await fileIsThere(gate, signal);
    return null;
  });
  await job.step('write', () => {
    note(tag, 'finish', 'write');
    return null;
  });
  return `report: ${query}`;
}

async function deploy({ tag }: { tag: string }, job: JobContext) {
  await job.step('prepare', () => {
    note(tag, 'start', 'prepare');
    return null;
  });
  const answer = await job.ask('approval', {
    message: `Deploy ${tag}?`,
    schema: {
      type: 'object',
      properties: { approved: { type: 'boolean' } },
      required: ['approved'],
    },
  });
  const approved = answer.action === 'accept' && answer.content['approved'] === true;
  await job.step('finish', () => {
    note(tag, 'finish', approved ? 'deployed' : 'left');
    return null;
  });
  return approved ? `deployed ${tag}` : `not deployed: ${answer.action}`;
}

async function endless({ tag }: { tag: string }, job: JobContext) {
  note(tag, 'start', 'endless');
  try {
    await pause(60_000, undefined, { signal: job.signal });
  } catch (error) {
    note(tag, 'cancelled', 'endless');
    throw error;
  }
}

async function pay({ tag }: { tag: string }, job: JobContext) {
  const receipt = await job.effect('charge', async ({ key }) => {
    const before = wasRecorded(tag);
    note(tag, 'start', key);
    await pause(before ? 0 : 1);
    return { receipt: `rcp_${tag}` };
  });
  return { structuredContent: receipt };
}

/** Tools with handlers of ours, the same on every kind of server. */
export function addOwnTools(tasks: Tasks, server: ToolServer): void {
  const tagged = z.object({ tag: z.string().min(2) });
  tasks.tool(
    server,
    'report',
    { inputSchema: tagged.extend({ gate: z.string() }), effect: 'read', syncWindow: 0 },
    report,
  );
  tasks.tool(
    server,
    'deploy',
    { inputSchema: tagged, effect: 'reversible', syncWindow: '200ms' },
    deploy,
  );
  tasks.tool(server, 'endless', { inputSchema: tagged, effect: 'read', syncWindow: 0 }, endless);
  tasks.tool(
    server,
    'pay',
    { inputSchema: tagged, effect: 'consequential', idempotencyKey: ({ tag }) => tag },
    pay,
  );
  tasks.tool(
    server,
    'measured',
    {
      inputSchema: z.object({ rows: z.union([z.number(), z.string()]) }),
      outputSchema: z.object({ rows: z.number() }),
      effect: 'read',
    },
    ({ rows }) => ({ structuredContent: { rows } }),
  );
  tasks.tool(
    server,
    'throws',
    { inputSchema: z.object({ words: z.string() }), effect: 'read' },
    ({ words }) => {
      throw new Error(words);
    },
  );
}
