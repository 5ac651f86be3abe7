/** What stands for a secret that was taken out. */
export const REDACTED = '[redacted]';

/** One kind of secret, as it looks in text. */
export interface RedactionRule {
  /** Stable: the label of `longcall_redaction_applied_total`. */
  readonly name: string;
  /**
   * Global; linear in the text's length: it begins at the start of a run, or its repetitions are bounded. What the
   * groups `before` and `after` match stays, the rest is masked.
   */
  readonly pattern: RegExp;
  /** Whether what looks like it is it: a check digit, an encoding. */
  readonly isSecret?: (match: string) => boolean;
}

/** A token that stands alone: nothing that could be part of it before it or after it. */
export const token = (name: string, body: string, flags = ''): RedactionRule => ({
  name,
  pattern: new RegExp(String.raw`(?<![A-Za-z0-9_-])(?:${body})(?![A-Za-z0-9])`, `g${flags}`),
});
