/**
 * What can be in a text without being seen in it, or can change how the rest of it is shown. Each pattern matches in
 * one pass and in linear time, and what it leaves has nothing more for it to take.
 */

/** Escape sequences of terminals (ECMA-48): control sequences, strings such as a window's title, single shifts. */
const ESCAPE_SEQUENCES = new RegExp(
  [
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -\/]*[@-~]?`,
    String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)`,
    String.raw`\u001b(?:[ -\/]*[0-Z\\^-~])?`,
  ].join('|'),
  'gu',
);

/** Scripts that are not written right without the zero-width joiners between their letters. */
const JOINED = [
  'Arab',
  'Beng',
  'Deva',
  'Gujr',
  'Guru',
  'Knda',
  'Mlym',
  'Orya',
  'Sinh',
  'Taml',
  'Telu',
];
const LETTER = `[${JOINED.map((script) => String.raw`\p{Script=${script}}`).join('')}]`;
const PICTOGRAPH = String.raw`\p{Extended_Pictographic}`;

/** Where an invisible character is part of what is seen: joined letters, joined emoji, a symbol shown as an emoji. */
const NEEDED = [
  String.raw`(?<=${LETTER})[\u200c\u200d](?=${LETTER})`,
  String.raw`(?<=${PICTOGRAPH}|${PICTOGRAPH}\ufe0f|\p{Emoji_Modifier})\u200d(?=${PICTOGRAPH})`,
  String.raw`(?<=\p{Emoji})\ufe0f`,
];

/**
 * Characters without a shape: zero-width ones, bidirectional controls, fillers, variation selectors and tags (which
 * can carry a whole hidden text), annotation marks.
 */
const INVISIBLE = new RegExp(
  String.raw`(?!${NEEDED.join('|')})[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]`,
  'gu',
);

const LINE_ENDS = /\r\n?/g;
/** Tab and newline stay. The two separators of Unicode end a line for some readers and not for others. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
/** No script stacks more marks on one letter; what does climbs out of its line. */
const STACKED_MARKS = /(\p{M}{4})\p{M}+/gu;

/**
 * Takes out escape sequences, bidi overrides and whatever else cannot be seen; other controls become spaces, pieces
 * of characters become U+FFFD. Tab and newline stay.
 */
export const stripControls = (text: string): string =>
  text
    .toWellFormed()
    .replace(ESCAPE_SEQUENCES, '')
    .replace(INVISIBLE, '')
    .replace(LINE_ENDS, '\n')
    .replace(CONTROLS, ' ')
    .replace(STACKED_MARKS, '$1');
