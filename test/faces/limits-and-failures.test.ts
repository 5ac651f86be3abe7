import { describe, expect } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { Job } from '../../src/runtime/job.ts';
import { until } from '../runtime/receiving-side.ts';
import { verifies } from '../requirements/verifies.ts';
import { createKit, tool } from './face-kit.ts';
import { caller2025, caller2026, errorOf, isMethod, WITH_FORMS, type Answer } from './wire.ts';

const LIMIT_MS = 500;
const BEAT_MS = 20;

/** Reports progress as long as the run lasts. */
function beat(job: Job, progress = 1): void {
  if (job.signal.aborted) return;
  job.progress({ progress });
  systemClock.after(BEAT_MS, () => beat(job, progress + 1));
}

const CALLERS: Readonly<Record<string, (url: string, meta: JsonObject) => Promise<Answer>>> = {
  '2025-11-25': async (url, meta) => (await caller2025(url, 'alice')).tool('gated', {}, { meta }),
  '2026-07-28': (url, meta) => caller2026(url, 'alice', WITH_FORMS).tool('gated', {}, { meta }),
};

describe.each(Object.keys(CALLERS))('a plain call of %s', (generation) => {
  verifies(
    ['G1-144', 'G1-145', 'G2-170', 'G2-171'],
    'meets its limit however lively its progress is, and is cancelled',
    async () => {
      const kit = await createKit({
        tools: [tool('gated', { mode: 'sync', plainLimitMs: LIMIT_MS })],
      });
      const { url } = await kit.http();
      const call = CALLERS[generation]?.(url, { progressToken: 'p' });
      const job = await kit.gate.next();
      beat(job);
      const answer = await call;
      expect(answer?.messages.filter(isMethod('notifications/progress')).length).toBeGreaterThan(1);
      expect(errorOf(answer?.body ?? {})).toMatchObject({ data: { reason: 'plain_limit' } });
      await until(() => job.signal.aborted);
    },
  );
});

/** A log that keeps its lines. */
function keptLog(): { readonly logger: Logger; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const note = (event: string, fields: object = {}): void =>
    void lines.push(`${event} ${JSON.stringify(fields)}`);
  return { logger: { debug: note, info: note, warn: note, error: note }, lines };
}

verifies(
  'G1-93',
  'what goes wrong inside a method of a session is -32603 with an id for the log, and nothing else',
  async () => {
    const { logger, lines } = keptLog();
    const fails = (): Promise<never> => Promise.reject(new Error('SELECT secret FROM password'));
    const kit = await createKit({
      logger,
      receiver: (receiver) => ({ ...receiver, view: fails, list: fails, cancel: fails }),
    });
    const { url } = await kit.http();
    const alice = await caller2025(url, 'alice');
    const params = { taskId: 'tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA' };
    for (const method of ['tasks/get', 'tasks/list', 'tasks/cancel']) {
      const answer = await alice.call(method, method === 'tasks/list' ? {} : params);
      const error = errorOf(answer);
      expect(error, method).toMatchObject({ code: -32_603, message: 'internal error' });
      expect(answer.text).not.toContain('secret');
      const { errorId } = error['data'] as { errorId: string };
      expect(lines.find((line) => line.includes(errorId))).toContain('SELECT secret');
    }
  },
);
