import { setTimeout as pause } from 'node:timers/promises';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { McpServer } from '@modelcontextprotocol/server';
import { FastMCP } from 'fastmcp';
import { z } from 'zod';
import type { Tasks, ToolServer } from '../../../src/server.ts';

/** The kinds of servers that the library takes. */
export const KINDS = ['sdk-v1', 'sdk-v2', 'fastmcp'] as const;
export type Kind = (typeof KINDS)[number];

const SLOW = z.object({ ms: z.number() });
const MEASURE = z.object({ rows: z.union([z.number(), z.string()]) });
const MEASURED = z.object({ rows: z.number() });
const FORM = {
  message: 'Go on?',
  requestedSchema: {
    type: 'object' as const,
    properties: { approved: { type: 'boolean' as const } },
    required: ['approved'],
  },
};
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

/** An ordinary server of SDK 1.x; nothing in it knows of longcall. */
function serverV1() {
  const taskStore = new InMemoryTaskStore();
  const server = new McpServerV1(
    { name: 'sdk-v1', version: '1.0.0' },
    {
      capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      taskStore,
    },
  );
  server.registerTool('slow', { inputSchema: SLOW.shape }, async ({ ms }) => {
    await pause(ms);
    return text(`slept ${ms}`);
  });
  server.registerTool('ask', {}, async (extra) => {
    const answer = await server.server.elicitInput(FORM, { relatedRequestId: extra.requestId });
    return text(`${answer.action} ${JSON.stringify(answer.content)}`);
  });
  server.registerTool(
    'measure',
    { inputSchema: MEASURE.shape, outputSchema: MEASURED.shape },
    ({ rows }) => ({ ...text('measured'), structuredContent: { rows } }),
  );
  server.registerTool('who', {}, ({ authInfo }) => text(JSON.stringify(authInfo?.extra ?? null)));
  server.experimental.tasks.registerToolTask(
    'own_task',
    { inputSchema: SLOW.shape, execution: { taskSupport: 'required' } },
    {
      async createTask({ ms }, extra) {
        const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: 50 });
        const finish = (): Promise<void> =>
          extra.taskStore.storeTaskResult(task.taskId, 'completed', text(`own task, ${ms}`));
        void pause(ms).then(finish);
        return { task };
      },
      getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
      getTaskResult: (_args, extra) => extra.taskStore.getTaskResult(extra.taskId) as never,
    },
  );
  return server;
}

function serverV2() {
  const server = new McpServer({ name: 'sdk-v2', version: '1.0.0' });
  server.registerTool('slow', { inputSchema: SLOW }, async ({ ms }) => {
    await pause(ms);
    return text(`slept ${ms}`);
  });
  server.registerTool('ask', {}, async (context) => {
    const answer = await context.mcpReq.elicitInput(FORM);
    return text(`${answer.action} ${JSON.stringify(answer.content)}`);
  });
  server.registerTool('measure', { inputSchema: MEASURE, outputSchema: MEASURED }, ({ rows }) => ({
    ...text('measured'),
    structuredContent: { rows } as { rows: number },
  }));
  server.registerTool('who', {}, ({ http }) => text(JSON.stringify(http?.authInfo?.extra ?? null)));
  return server;
}

function serverFastMcp() {
  const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' });
  server.addTool({
    name: 'slow',
    parameters: SLOW,
    execute: async ({ ms }) => {
      await pause(ms);
      return `slept ${ms}`;
    },
  });
  server.addTool({
    name: 'ask',
    execute: async (_args, { elicit }) => {
      const answer = await elicit({ mode: 'form', ...FORM });
      return `${answer.action} ${JSON.stringify(answer.content)}`;
    },
  });
  server.addTool({
    name: 'measure',
    parameters: MEASURE,
    outputSchema: MEASURED,
    execute: ({ rows }) => Promise.resolve({ rows } as { rows: number }),
  });
  return server;
}

const BUILD: Readonly<Record<Kind, () => ToolServer>> = {
  'sdk-v1': serverV1,
  'sdk-v2': serverV2,
  fastmcp: serverFastMcp,
};

/** A server of that kind as its author has it, and what one line of longcall says of its tools. */
export function buildAdopted(tasks: Tasks, kind: Kind): ToolServer {
  const server = BUILD[kind]();
  tasks.adopt(server, {
    slow: { effect: 'read', syncWindow: 0 },
    ask: { effect: 'reversible', syncWindow: '100ms' },
    measure: { effect: 'read' },
    ...(kind === 'fastmcp' ? {} : { who: { effect: 'read' } }),
    ...(kind === 'sdk-v1' ? { own_task: { effect: 'read', syncWindow: 0 } } : {}),
  });
  return server;
}
