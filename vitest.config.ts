import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './test/reporter.ts';

/** `vitest run --mode long` plays the seeds, repetitions and volumes that are too slow for each change. */
export default defineConfig(({ mode }) => {
  const long = mode === 'long';
  return {
    test: {
      env: long ? { LONGCALL_TEST_LONG: '1' } : {},
      globalSetup: ['./test/global-setup.ts'],
      reporters: [new ClosingLineReporter()],
      pool: 'forks',
      maxWorkers: 2,
      testTimeout: long ? 600_000 : 30_000,
      hookTimeout: 60_000,
      projects: [
        { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
        // Real processes of other people's making, on a machine that may be busy: in CI a second try is allowed, and
        // the output names who took it. At a developer's desk there is none, so that a race is seen where it can be mended.
        {
          extends: true,
          test: {
            name: 'suites',
            include: ['test/**/*.test.ts'],
            retry: process.env['CI'] === undefined ? 0 : 1,
          },
        },
      ],
    },
  };
});
