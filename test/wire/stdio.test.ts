import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements/verifies.ts';
import { CHECK_GROUPS, CHECKS } from './checks/all.ts';
import { createStdioTarget } from './target.ts';
import type { RunningTarget } from './target.ts';

const HEADERS = 'it is about headers, statuses or framing of HTTP';
const STREAMS = 'it is about several streams of one caller, or about leaving one; a pipe is one';
const PEOPLE = 'it needs a second caller, or one without a name; a pipe has the local user';

/** The checks that have nothing to check over a pipe, and why. */
const ABOUT_HTTP: Readonly<Record<string, string>> = {
  '2025-anonymous-has-no-list': PEOPLE,
  '2025-get-is-not-streamed': HEADERS,
  '2025-result-opens-a-stream': HEADERS,
  '2025-question-comes-again': STREAMS,
  '2025-plain-call-asks-on-its-own-stream': STREAMS,
  '2025-foreign-answer-is-ignored': PEOPLE,
  '2025-disconnect-is-no-cancel': STREAMS,
  '2025-list-is-isolated': PEOPLE,
  '2025-cursor-is-checked': PEOPLE,
  '2025-others-are-told-nothing': PEOPLE,
  '2025-session-is-needed': HEADERS,
  '2025-ended-session-is-gone': HEADERS,
  '2025-version-header': HEADERS,
  '2025-accepted-without-answer': HEADERS,
  'origin-is-checked': HEADERS,
  'wrong-token-is-refused': HEADERS,
  'broken-body-is-refused': HEADERS,
  '2026-name-header-is-checked': HEADERS,
  '2026-envelope-is-checked': HEADERS,
  '2026-has-no-sessions': HEADERS,
  '2026-notifications-are-accepted': HEADERS,
  '2026-disconnect-cancels-the-call': STREAMS,
  '2026-call-without-task-asks': PEOPLE,
  '2026-anonymous-is-asked': PEOPLE,
  '2025-foreign-task': PEOPLE,
  '2026-foreign-task': PEOPLE,
  '2026-foreign-listen': PEOPLE,
  '2025-session-is-no-identity': PEOPLE,
};

test('every check that is left out over a pipe exists', () => {
  const ids = CHECKS.map(({ id }) => id);
  expect(Object.keys(ABOUT_HTTP).filter((id) => !ids.includes(id))).toEqual([]);
});

const GROUPS = Object.entries(CHECK_GROUPS)
  .map(([about, checks]) => [about, checks.filter(({ id }) => !(id in ABOUT_HTTP))] as const)
  .filter(([, checks]) => checks.length > 0);

describe.each(GROUPS)('the wire of the gateway over a pipe: %s', (_about, checks) => {
  let target: RunningTarget;

  beforeAll(() => {
    target = createStdioTarget();
  });
  afterAll(() => target.stop());

  for (const check of checks) {
    verifies(check.requirements, `${check.id}: ${check.title}`, async () => {
      expect(await check.run(target)).toEqual({ verdict: 'pass' });
    });
  }
});
