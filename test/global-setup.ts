import { build } from '../scripts/build.ts';

/**
 * Builds dist/ once per run, so that tests of whole processes start what users start. Types are left
 * to `npm run check`: a test run should tell about behaviour even while a type is wrong.
 */
export function setup(): void {
  build({ checkTypes: false });
}
