import { stripControls } from '../../kernel/invisible.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
/** Hangul, CJK, kana, fullwidth forms: two columns wide on a terminal (UAX #11, W and F). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

function graphemeWidth(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

const graphemes = (text: string): readonly string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment);

/** How many columns of a terminal the text takes. */
export function textWidth(text: string): number {
  return graphemes(text).reduce((width, grapheme) => width + graphemeWidth(grapheme), 0);
}

/** At most `width` columns; what is cut off shows as `mark`. */
export function truncate(text: string, width: number, mark: string): string {
  if (textWidth(text) <= width) return text;
  const room = width - textWidth(mark);
  let kept = '';
  let used = 0;
  for (const grapheme of graphemes(text)) {
    used += graphemeWidth(grapheme);
    if (used > room) break;
    kept += grapheme;
  }
  return kept + mark;
}

/** One line that a terminal only shows and never obeys: names and messages are the peers' words. */
export const oneLine = (text: string): string =>
  stripControls(text)
    .replace(/[\t\n]+/g, ' ')
    .trim();
