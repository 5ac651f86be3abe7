import { LongcallError } from '../../kernel/errors.ts';

/**
 * A step that cannot be journalled: a mistake of the handler's author, said in words for that author. It reaches the
 * handler as a rejection, and the caller when the handler lets it through.
 */
export class StepRefused extends LongcallError {
  /** `problem` follows on the name: `returned a Date`. */
  constructor(name: string, problem: string) {
    super('LONGCALL_STEP_REFUSED', `the step ${JSON.stringify(name)} ${problem}`);
  }
}
