import { readFile } from 'node:fs/promises';

import { parse } from 'yaml';
import { z } from 'zod';

import { PARTS } from './scenarios.ts';

const Expectation = z.strictObject({
  part: z.enum(PARTS),
  scenario: z.string(),
  /** One check of the scenario; without it the entry speaks of the whole scenario. */
  check: z.string().optional(),
  reason: z.string().min(1),
});

const ExpectationFile = z.strictObject({
  failures: z.array(Expectation),
  skips: z.array(Expectation),
});

/** What is known not to pass, and why. */
export type Expectation = z.infer<typeof Expectation>;

/** The known failures, and what the suite itself skips. Both lists must stay true: an entry that no longer holds fails the run. */
export type Expectations = z.infer<typeof ExpectationFile>;

/** Reads the expectations of one server. */
export async function readExpectations(file: string): Promise<Expectations> {
  return ExpectationFile.parse(parse(await readFile(file, 'utf8')));
}
