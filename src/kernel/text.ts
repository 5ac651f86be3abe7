import { stripControls } from './invisible.ts';
import { maskSecrets } from './redact/redact.ts';

/** The longest status message, in characters (architecture defaults). */
export const STATUS_MESSAGE_CHARS = 200;

/** How much more is looked at than is shown: escape sequences and the like take up room that nobody sees. */
const LOOKED_AT = 8;
/** What is cut may read differently than what was whole: it is cleaned again, at most so often. */
const ROUNDS_MAX = 6;
const ELLIPSIS = '…';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The first so many characters, never half of what the eye sees as one unless that one is longer. */
function cutTo(text: string, maxChars: number): string {
  let kept = '';
  let count = 0;
  for (const { segment } of graphemes.segment(text)) {
    count += Array.from(segment).length;
    if (count > maxChars) break;
    kept += segment;
  }
  return kept === '' ? Array.from(text).slice(0, maxChars).join('') : kept;
}

function bounded(text: string, maxChars: number): string {
  if (text.length <= maxChars || Array.from(text).length <= maxChars) return text;
  return `${cutTo(text, maxChars - 1).trimEnd()}${ELLIPSIS}`;
}

/** Without what follows the last white space: half a secret is not known for one. */
function withoutLastWord(text: string): string {
  const end = Math.max(...[' ', '\n', '\t'].map((space) => text.lastIndexOf(space)));
  return `${text.slice(0, Math.max(end, 0)).trimEnd()}${ELLIPSIS}`;
}

const clean = (text: string): string => maskSecrets(stripControls(text)).trim();

/**
 * Text from a peer or a handler, made safe to show: no escape sequences, controls, bidi, zero-width or tag tricks, no
 * credentials, at most `maxChars` characters. Doing it twice changes nothing more. It stays untrusted: it is shown,
 * never interpreted.
 */
export function safeText(text: string, maxChars: number = STATUS_MESSAGE_CHARS): string {
  const window = text.slice(0, maxChars * LOOKED_AT);
  const cleaned = clean(window);
  const endsInView = window.length < text.length && cleaned.length < maxChars * 2;
  let shown = bounded(endsInView ? withoutLastWord(cleaned) : cleaned, maxChars);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const again = bounded(clean(shown), maxChars);
    if (again === shown) break;
    shown = again;
  }
  return shown;
}
