import { RE2JS } from 're2js';
import { messageOf } from '../../kernel/logger.ts';
import type { ConfiguredRule } from '../../kernel/redact/redact.ts';
import type { RedactConfig } from './config.ts';

/** The longest pattern, and the most of them: each is looked for in every text that is shown. */
export const PATTERN_CHARS_MAX = 500;
export const PATTERNS_MAX = 50;

type Span = readonly [start: number, end: number];

function spansOf(pattern: RE2JS, text: string): readonly Span[] {
  const matcher = pattern.matcher(text);
  const spans: Span[] = [];
  while (matcher.find())
    if (matcher.end() > matcher.start()) spans.push([matcher.start(), matcher.end()]);
  return spans;
}

/**
 * A rule for what an installation knows to be secret. Patterns are RE2's: no text, and no pattern, makes them take
 * more than linear time. Throws where the pattern is none.
 */
export function redactionRule(name: string, pattern: string): ConfiguredRule {
  const compiled = RE2JS.compile(pattern);
  return {
    name,
    replaceAll(text, mask) {
      let [masked, last] = ['', 0];
      for (const [start, end] of spansOf(compiled, text)) {
        masked += text.slice(last, start) + mask();
        last = end;
      }
      return masked + text.slice(last);
    },
  };
}

/** The rules of a configuration that was checked. */
export const redactionRules = ({ patterns }: RedactConfig): readonly ConfiguredRule[] =>
  Object.entries(patterns).map(([name, pattern]) => redactionRule(name, pattern));

/** What is wrong with a pattern, if something is. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > PATTERN_CHARS_MAX)
    return `must have at most ${PATTERN_CHARS_MAX} characters`;
  try {
    return RE2JS.compile(pattern).matcher('').find() ? 'must not match an empty text' : undefined;
  } catch (error) {
    return `is no pattern that RE2 can read: ${messageOf(error)}`;
  }
}
