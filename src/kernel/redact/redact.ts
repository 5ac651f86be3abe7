import { CARD_RULES } from './cards.ts';
import { HTTP_CREDENTIAL_RULES } from './http-credentials.ts';
import { NAMED_VALUE_RULES } from './named-values.ts';
import { PRIVATE_KEY_RULES } from './private-keys.ts';
import { REDACTED, type RedactionRule } from './rule.ts';
import { VENDOR_KEY_RULES } from './vendor-keys.ts';

/** In the order in which they are applied: what a wider rule would tear apart goes first. */
export const REDACTION_RULES: readonly RedactionRule[] = [
  ...PRIVATE_KEY_RULES,
  ...HTTP_CREDENTIAL_RULES.slice(0, 2),
  ...NAMED_VALUE_RULES,
  ...HTTP_CREDENTIAL_RULES.slice(2),
  ...VENDOR_KEY_RULES,
  ...CARD_RULES,
];

/** A rule that somebody configured: it says where the matches of its pattern are, in linear time. */
export interface ConfiguredRule {
  readonly name: string;
  /** Puts `mask()` in place of each match. */
  replaceAll(text: string, mask: () => string): string;
}

/** Process-wide like the log that they guard: a pattern that any gateway here has configured is masked everywhere. */
const configured = new Set<ConfiguredRule>();
const applied = new Map<string, number>();

/** Masks by these rules too, until the answer is called. */
export function addRedactionRules(rules: readonly ConfiguredRule[]): () => void {
  for (const rule of rules) configured.add(rule);
  return () => rules.forEach((rule) => configured.delete(rule));
}

/** How often each rule has masked something since the process began. */
export const redactionCounts = (): Readonly<Record<string, number>> => Object.fromEntries(applied);

function noteApplied(name: string): string {
  applied.set(name, (applied.get(name) ?? 0) + 1);
  return REDACTED;
}

interface Kept {
  readonly before?: string;
  readonly after?: string;
}

function applyRule(text: string, { name, pattern, isSecret }: RedactionRule): string {
  return text.replace(pattern, (match: string, ...rest: unknown[]) => {
    if (isSecret?.(match) === false) return match;
    const last = rest.at(-1);
    const { before = '', after = '' }: Kept = typeof last === 'object' && last !== null ? last : {};
    return `${before}${noteApplied(name)}${after}`;
  });
}

/** What is masked already is no text that a configured pattern may match in. */
const applyConfigured = (text: string, rule: ConfiguredRule): string =>
  text
    .split(REDACTED)
    .map((piece) => rule.replaceAll(piece, () => noteApplied(rule.name)))
    .join(REDACTED);

/**
 * Masks what looks like a credential, by the built-in rules and the configured ones. A net under the rule that secrets
 * are never put into text at all.
 */
export function maskSecrets(text: string): string {
  const masked = REDACTION_RULES.reduce(applyRule, text);
  return Array.from(configured).reduce(applyConfigured, masked);
}
