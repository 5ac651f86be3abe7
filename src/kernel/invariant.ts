/** A broken assumption of our own code: the unit of work stops, nothing is guessed. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Stops the unit of work when `condition` does not hold. `what` names the assumption, in words to search for. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new InvariantError(`broken invariant: ${what}`);
}
