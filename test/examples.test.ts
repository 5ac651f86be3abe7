import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const STRIP_TYPES = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];
const STORY_MS_MAX = 90_000;

/** Each story and how many expectations of it hold when it is played to its end. */
test.each([
  ['report-generator', 4],
  ['deploy-with-approval', 5],
  ['payment', 6],
] as const)(
  'the story of %s plays to its end, unattended, and all that it expects holds',
  (name, expectations) => {
    const story = fileURLToPath(new URL(`../examples/${name}/story.ts`, import.meta.url));
    const played = spawnSync(process.execPath, [...STRIP_TYPES, story], {
      encoding: 'utf8',
      timeout: STORY_MS_MAX,
    });
    expect(played.stderr).toBe('');
    expect(played.status, played.stdout).toBe(0);
    expect(played.stdout.match(/✓/g)).toHaveLength(expectations);
  },
  STORY_MS_MAX + 10_000,
);
