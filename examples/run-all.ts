// Plays every story, one after the other. `npm run examples`
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const STRIP_TYPES = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];

for (const name of ['report-generator', 'deploy-with-approval', 'payment']) {
  process.stdout.write(`\n#### ${name}\n`);
  const story = fileURLToPath(new URL(`${name}/story.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, [...STRIP_TYPES, story], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
