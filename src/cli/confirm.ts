import { createInterface } from 'node:readline/promises';
import { LongcallError } from '../kernel/errors.ts';
import type { CliIo } from './io.ts';

/** Whether somebody sits at both ends: a question is asked on stderr and answered on stdin. */
function canAsk({ isTty, stderrIsTty, stdin }: CliIo): boolean {
  return isTty && stderrIsTty && (stdin as { readonly isTTY?: boolean }).isTTY === true;
}

/** Throws LONGCALL_USAGE, which names the flag, where a confirmation is needed and nobody can be asked for it. */
export function requireConfirmable(io: CliIo, yes: boolean): void {
  if (yes || canAsk(io)) return;
  throw new LongcallError('LONGCALL_USAGE', 'this needs a confirmation, and there is no terminal', {
    hint: 'add --yes',
  });
}

/**
 * A yes before something that cannot be taken back: `--yes`, or the answer of whoever is at the terminal. Anything
 * but y or yes is a no.
 */
export async function confirm(io: CliIo, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  io.stderr(`${question} [y/N] `);
  const lines = createInterface({ input: io.stdin, terminal: false });
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return /^y(es)?$/i.test((value ?? '').trim());
  } finally {
    lines.close();
  }
}
