import * as v1 from '@modelcontextprotocol/sdk/types.js';
import {
  isCreateTaskResultV2,
  isDetailedTaskV2,
  isTaskStatusNotificationV2,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../test/requirements/verifies.ts';
import type { TaskView } from './codec.ts';
import { endingOf, type InputRequest, type Outcome, type Task } from './model.ts';
import { isReservedMeta, OWN_PREFIX, RELATED_TASK_META } from './names.ts';
import { codec2025, codec2026, selectCodec } from './select-codec.ts';

const BASE: Task = {
  id: 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA',
  owner: 'prn_x',
  tenant: 'a',
  origin: '2025-11-25',
  handle: 'given',
  upstream: 'reports',
  tool: 'export',
  effect: 'read',
  phase: 'working',
  createdAt: Date.UTC(2026, 0, 1),
  updatedAt: Date.UTC(2026, 0, 1, 0, 0, 1),
  ttlMs: 60_000,
  pollIntervalMs: 1000,
  asks: ['elicitation-form'],
  revision: 1,
};

const QUESTION: InputRequest = {
  taskId: BASE.id,
  key: 'q1',
  method: 'elicitation/create',
  params: { message: 'sure?', requestedSchema: { type: 'object', properties: {} } },
  state: 'pending',
  askedAt: 0,
  expiresAt: 1,
};

function ended(outcome: Outcome, message?: string): TaskView {
  const task: Task = {
    ...BASE,
    phase: 'ended',
    ending: endingOf(outcome),
    ...(message ? { message } : {}),
  };
  return { task, outcome, inputs: [] };
}

const OK: Outcome = { kind: 'result', result: { content: [{ type: 'text', text: 'done' }] } };
const TOOL_ERROR: Outcome = { kind: 'result', result: { content: [], isError: true } };
const RPC_ERROR: Outcome = {
  kind: 'error',
  error: { code: -32055, message: 'no', data: { why: 'x' } },
};
const CANCELLED: Outcome = { kind: 'cancelled' };
const VIEWS: readonly TaskView[] = [
  { task: BASE, inputs: [] },
  { task: { ...BASE, phase: 'input_required' }, inputs: [QUESTION] },
  ended(OK),
  ended(TOOL_ERROR),
  ended(RPC_ERROR),
  ended(CANCELLED),
];

describe('the wire of 2025-11-25', () => {
  verifies(['G1-19', 'G1-32', 'G1-86'], 'every view is a full Task of the official schema', () => {
    for (const view of VIEWS)
      expect(v1.GetTaskResultSchema.parse(codec2025.encodeTask(view))).toMatchObject({
        ttl: 60_000,
      });
  });

  verifies(
    ['G1-25', 'G1-20'],
    'the handle is nested under task, seeded working, without the result',
    () => {
      for (const view of VIEWS) {
        const created = codec2025.encodeCreate(view.task);
        expect(v1.CreateTaskResultSchema.parse(created).task.status).toBe('working');
        expect(Object.keys(created)).toEqual(['task']);
      }
    },
  );

  verifies('G1-146', 'a text for the model rides in _meta of the handle', () => {
    const created = codec2025.encodeCreate(BASE, { immediateResponse: 'on it' });
    expect(created['_meta']).toEqual({
      'io.modelcontextprotocol/model-immediate-response': 'on it',
    });
  });

  verifies(['G1-38', 'G1-35'], 'a tool error is failed, and its result is still a result', () => {
    expect(codec2025.encodeTask(ended(TOOL_ERROR))['status']).toBe('failed');
    expect(codec2025.encodeResult(ended(TOOL_ERROR))).toMatchObject({
      kind: 'result',
      result: { isError: true },
    });
  });

  verifies(['G1-37'], 'a JSON-RPC error comes back as that error', () => {
    expect(codec2025.encodeResult(ended(RPC_ERROR))).toEqual({
      kind: 'error',
      error: RPC_ERROR.kind === 'error' && RPC_ERROR.error,
    });
  });

  verifies(
    ['G1-39', 'G1-138'],
    'the result names its task in _meta and keeps the rest of it',
    () => {
      const reply = codec2025.encodeResult(
        ended({ kind: 'result', result: { content: [], _meta: { 'x.y/z': 1 }, extra: 2 } }),
      );
      expect(reply).toEqual({
        kind: 'result',
        result: {
          content: [],
          extra: 2,
          _meta: { 'x.y/z': 1, [RELATED_TASK_META]: { taskId: BASE.id } },
        },
      });
    },
  );

  verifies('T5', 'the result of a cancelled task is an error that says so', () => {
    expect(codec2025.encodeResult(ended(CANCELLED))).toMatchObject({
      kind: 'error',
      error: { code: -32603, message: 'Task was cancelled', data: { status: 'cancelled' } },
    });
  });

  verifies(['G1-96'], 'a failed task always has words', () => {
    for (const view of [ended(TOOL_ERROR), ended(RPC_ERROR)])
      expect(codec2025.encodeTask(view)['statusMessage']).toEqual(expect.any(String));
  });

  verifies('G1-137', 'related-task metadata is on no task, list or cancel answer', () => {
    for (const view of VIEWS)
      expect(JSON.stringify(codec2025.encodeTask(view))).not.toContain('related-task');
    expect(JSON.stringify(codec2025.encodeList([BASE]))).not.toContain('related-task');
    expect(JSON.stringify(codec2025.encodeCancelled(ended(CANCELLED)))).not.toContain(
      'related-task',
    );
  });

  verifies(['G1-81', 'G1-83'], 'the status notification is a Task and nothing more', () => {
    for (const view of VIEWS) {
      const notification = codec2025.encodeNotification(view);
      expect(v1.TaskStatusNotificationSchema.parse(notification).method).toBe(
        'notifications/tasks/status',
      );
      expect(JSON.stringify(notification)).not.toContain('related-task');
    }
  });

  verifies('G1-76', 'a page of the list carries its cursor only when there is more', () => {
    expect(v1.ListTasksResultSchema.parse(codec2025.encodeList([BASE], 'next'))).toMatchObject({
      nextCursor: 'next',
    });
    expect(codec2025.encodeList([BASE])).not.toHaveProperty('nextCursor');
  });

  test('a result from a 2026 upstream loses its resultType', () => {
    const reply = codec2025.encodeInline({
      kind: 'result',
      result: { content: [], resultType: 'complete' },
    });
    expect(reply).toEqual({ kind: 'result', result: { content: [] } });
  });
});

describe('the wire of 2026-07-28', () => {
  verifies(
    ['G2-20', 'G2-38', 'G2-109'],
    'every view is a DetailedTask of the official schema, resultType complete',
    () => {
      for (const view of VIEWS) {
        const encoded = codec2026.encodeTask(view);
        expect(encoded['resultType']).toBe('complete');
        expect(isDetailedTaskV2(encoded), JSON.stringify(encoded)).toBe(true);
      }
    },
  );

  verifies(
    ['G2-26', 'G2-29'],
    'the handle is flat, of resultType task, and nothing else is',
    () => {
      for (const view of VIEWS) {
        const created = codec2026.encodeCreate(view.task);
        expect(isCreateTaskResultV2(created), JSON.stringify(created)).toBe(true);
        expect(created).toMatchObject({ resultType: 'task', status: 'working' });
        for (const absent of ['task', 'result', 'error', 'inputRequests'])
          expect(created).not.toHaveProperty(absent);
      }
    },
  );

  verifies('G2-39', 'working and cancelled are the bare task', () => {
    for (const view of [VIEWS[0], ended(CANCELLED)]) {
      const encoded = codec2026.encodeTask(view ?? ended(CANCELLED));
      for (const absent of ['result', 'error', 'inputRequests'])
        expect(encoded).not.toHaveProperty(absent);
    }
  });

  verifies(['G2-44', 'G2-41'], 'a tool error is completed with its result inline', () => {
    expect(codec2026.encodeTask(ended(TOOL_ERROR))).toMatchObject({
      status: 'completed',
      result: { isError: true, resultType: 'complete' },
    });
  });

  verifies(['G2-43', 'G2-118'], 'a JSON-RPC error is failed with that error and words', () => {
    expect(codec2026.encodeTask(ended(RPC_ERROR))).toMatchObject({
      status: 'failed',
      error: { code: -32055, message: 'no', data: { why: 'x' } },
      statusMessage: expect.any(String),
    });
  });

  verifies('G2-47', 'input_required holds every open question under its key', () => {
    expect(
      codec2026.encodeTask({ task: { ...BASE, phase: 'input_required' }, inputs: [QUESTION] }),
    ).toMatchObject({
      status: 'input_required',
      inputRequests: { q1: { method: 'elicitation/create', params: QUESTION.params } },
    });
  });

  test('a reader that can be asked nothing sees working, and why', () => {
    for (const codec of [codec2025, codec2026])
      expect(
        codec.encodeTask({ task: { ...BASE, phase: 'input_required' }, inputs: [] }),
      ).toMatchObject({
        status: 'working',
        statusMessage: expect.stringContaining('answer'),
      });
  });

  verifies(['G2-45', 'G2-163'], 'no related-task metadata, wherever the result came from', () => {
    const result = {
      content: [],
      _meta: { [RELATED_TASK_META]: { taskId: 'theirs' }, 'x.y/z': 1 },
    };
    expect(codec2026.encodeTask(ended({ kind: 'result', result }))).toMatchObject({
      result: { _meta: { 'x.y/z': 1 } },
    });
    expect(JSON.stringify(codec2026.encodeTask(ended({ kind: 'result', result })))).not.toContain(
      'related-task',
    );
  });

  verifies(['G2-96'], 'the notification is the same DetailedTask as tasks/get', () => {
    for (const view of VIEWS) {
      const notification = codec2026.encodeNotification(view);
      const { resultType: _, ...task } = codec2026.encodeTask(view);
      expect(notification).toEqual({ method: 'notifications/tasks', params: task });
      const framed = { jsonrpc: '2.0', ...notification };
      expect(isTaskStatusNotificationV2(framed) || isTaskStatusNotificationV2(notification)).toBe(
        true,
      );
    }
  });

  verifies(['G2-56', 'G2-87'], 'acknowledgements are empty but for their resultType', () => {
    expect(codec2026.encodeAck()).toEqual({ resultType: 'complete' });
    expect(codec2026.encodeCancelled(ended(CANCELLED))).toEqual({ resultType: 'complete' });
  });

  verifies('G2-110', 'the retention a task is given never changes while it lives', () => {
    expect(new Set(VIEWS.map((view) => codec2026.encodeTask(view)['ttlMs']))).toEqual(
      new Set([60_000]),
    );
  });
});

describe('both', () => {
  test('a codec is asked for by its generation', () => {
    expect(selectCodec('2025-11-25')).toBe(codec2025);
    expect(selectCodec('2026-07-28')).toBe(codec2026);
  });

  verifies(['G1-23', 'G2-24'], 'words for people may stand beside any status', () => {
    const open = VIEWS.filter(({ task }) => task.phase !== 'ended');
    const views = [
      ...open,
      ...[OK, TOOL_ERROR, RPC_ERROR, CANCELLED].map((outcome) => ended(outcome)),
    ];
    for (const codec of [codec2025, codec2026]) {
      const spoken = views.map((view) =>
        codec.encodeTask({ ...view, task: { ...view.task, message: 'page 7 of 9' } }),
      );
      expect(new Set(spoken.map(({ status }) => status))).toEqual(
        new Set(['working', 'input_required', 'completed', 'failed', 'cancelled']),
      );
      expect(spoken.map(({ statusMessage }) => statusMessage)).toEqual(
        spoken.map(() => 'page 7 of 9'),
      );
    }
  });

  verifies(
    'G2-17',
    'a task may hold what any request would have returned, not only the result of a call',
    () => {
      const prompt = {
        messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
        description: 'a prompt',
      };
      const view = ended({ kind: 'result', result: prompt });
      expect(codec2026.encodeTask(view)['result']).toEqual({ ...prompt, resultType: 'complete' });
      expect(codec2025.encodeResult(view)).toMatchObject({ kind: 'result', result: prompt });
    },
  );

  verifies(
    ['G2-46', 'G1-41'],
    'structured content comes through a task whatever JSON it is',
    () => {
      for (const structuredContent of [[1, 'two'], 'text', 3.5, false, null, { answer: 42 }]) {
        const view = ended({ kind: 'result', result: { content: [], structuredContent } });
        expect(codec2026.encodeTask(view)['result']).toMatchObject({ structuredContent });
        expect(codec2025.encodeResult(view)).toMatchObject({ result: { structuredContent } });
      }
    },
  );

  test('unknown members of a result survive both wires', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^x[a-z]{1,8}$/), fc.jsonValue()), (extra) => {
        // As it came over a wire: JSON has no negative zero.
        const sent = JSON.parse(JSON.stringify(extra)) as object;
        const view = ended({ kind: 'result', result: { content: [], ...sent } });
        expect(codec2025.encodeResult(view)).toMatchObject({ result: sent });
        expect(JSON.parse(JSON.stringify(codec2026.encodeTask(view)['result']))).toMatchObject(
          sent,
        );
      }),
    );
  });

  verifies(
    ['G2-183', 'T40'],
    'reserved _meta members are told from others, and our own prefix is none',
    () => {
      expect(isReservedMeta(`${OWN_PREFIX}idempotencyKey`)).toBe(false);
      for (const name of ['io.modelcontextprotocol/related-task', 'com.mcp/x', 'progressToken'])
        expect(isReservedMeta(name)).toBe(true);
      for (const name of ['traceparent', 'dev.longcall/operation', 'com.example.mcp/x', 'x'])
        expect(isReservedMeta(name)).toBe(false);
    },
  );
});
