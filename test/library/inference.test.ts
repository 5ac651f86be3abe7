import type { FastMCP } from 'fastmcp';
import type { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import type { McpServer } from '@modelcontextprotocol/server';
import { describe, expectTypeOf, test } from 'vitest';
import { z as z3 } from 'zod/v3';
import { z } from 'zod';
import type {
  ArgumentsOf,
  ConnectableServer,
  JobContext,
  Tasks,
  ToolOptions,
  ToolServer,
} from '../../src/server.ts';

/** Checked by the compiler: `npm run typecheck`. */
describe('the types of the library', () => {
  test('take the servers of each SDK as they are', () => {
    expectTypeOf<McpServer>().toExtend<ToolServer>();
    expectTypeOf<McpServerV1>().toExtend<ToolServer>();
    expectTypeOf<FastMCP>().toExtend<ToolServer>();
    expectTypeOf<ServerV1>().toExtend<ConnectableServer>();
    expectTypeOf<{ listen(): void }>().not.toExtend<ConnectableServer>();
  });

  test('read the arguments from schemas of zod 4, of zod 3, and from a shape of either', () => {
    const zod4 = z.object({ id: z.string(), n: z.number().default(1), x: z.boolean().optional() });
    type Wanted = { id: string; n: number; x?: boolean | undefined };
    expectTypeOf<ArgumentsOf<typeof zod4>>().toEqualTypeOf<Wanted>();
    const zod3 = z3.object({ id: z3.string(), x: z3.boolean().optional() });
    expectTypeOf<ArgumentsOf<typeof zod3>>().toEqualTypeOf<{
      id: string;
      x?: boolean | undefined;
    }>();
    const shape = { id: z.string(), x: z.boolean().optional() };
    expectTypeOf<ArgumentsOf<typeof shape>>().toEqualTypeOf<{
      id: string;
      x?: boolean | undefined;
    }>();
    expectTypeOf<ArgumentsOf<undefined>>().toEqualTypeOf<Readonly<Record<string, never>>>();
  });

  test('let a handler see them, and the job', () => {
    const add = (tasks: Tasks, server: McpServer): void => {
      tasks.tool(
        server,
        'a',
        {
          inputSchema: z.object({ id: z.string() }),
          effect: 'read',
          idempotencyKey: (args) => {
            expectTypeOf(args).toEqualTypeOf<{ id: string }>();
            return args.id;
          },
        },
        async (args, job) => {
          expectTypeOf(args).toEqualTypeOf<{ id: string }>();
          expectTypeOf(job).toEqualTypeOf<JobContext>();
          const rows = await job.step('count', () => Number('3'));
          expectTypeOf(rows).toEqualTypeOf<number>();
        },
      );
    };
    expectTypeOf(add).toBeFunction();
  });

  test('want every tool to say what it may do', () => {
    expectTypeOf<{ title: string }>().not.toExtend<ToolOptions>();
    expectTypeOf<{ effect: 'read' }>().toExtend<ToolOptions>();
    expectTypeOf<{ effect: 'maybe' }>().not.toExtend<ToolOptions>();
    type Keyed = ToolOptions<z.ZodObject<{ id: z.ZodString }>>['idempotencyKey'];
    expectTypeOf<readonly ['id']>().toExtend<Keyed>();
    expectTypeOf<readonly ['ID']>().not.toExtend<Keyed>();
  });
});
