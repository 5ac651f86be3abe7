import { DefaultReporter } from 'vitest/node';
import type { TestModule } from 'vitest/node';

type RunEnd = Parameters<DefaultReporter['onTestRunEnd']>;

/** The default report, closed by one plain line that people and scripts can read: `N passed, N failed`. */
export class ClosingLineReporter extends DefaultReporter {
  override onTestRunEnd(...[modules, errors, reason]: RunEnd): void {
    super.onTestRunEnd(modules, errors, reason);
    process.stdout.write(`\n${closingLine(modules, errors.length)}\n`);
  }
}

/** A file that could not be loaded and an error that nobody caught count as failed too. */
function closingLine(modules: readonly TestModule[], uncaught: number): string {
  const states = modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => test.result().state),
  );
  const count = (wanted: string): number => states.filter((state) => state === wanted).length;
  const broken = modules.filter((module) => module.errors().length > 0).length + uncaught;
  const line = `${count('passed')} passed, ${count('failed') + broken} failed`;
  return count('skipped') === 0 ? line : `${line}, ${count('skipped')} skipped`;
}
