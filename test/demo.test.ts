import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const DEMO = fileURLToPath(new URL('../examples/demo/demo.ts', import.meta.url));
const MINUTE_MS = 60_000;

test('the demo plays to its end, unattended, in under a minute, and all that it expects holds', () => {
  const flags = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];
  const played = spawnSync(process.execPath, [...flags, DEMO], {
    encoding: 'utf8',
    timeout: MINUTE_MS,
  });
  expect(played.stderr).toBe('');
  expect(played.status).toBe(0);
  expect(played.stdout.match(/✓/g)).toHaveLength(6);
  expect(played.stdout).toContain('Done.');
}, 90_000);
