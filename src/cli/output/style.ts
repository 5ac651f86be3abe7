/** What a word in the output means; the colour follows. */
export const TONES = ['plain', 'good', 'bad', 'doubt', 'active', 'quiet', 'title'] as const;
export type Tone = (typeof TONES)[number];

const SGR: Readonly<Record<Tone, string>> = {
  plain: '',
  good: '32',
  bad: '31',
  doubt: '33',
  active: '36',
  quiet: '2',
  title: '1',
};

/** Signs that repeat in shape what the colour says. */
const SIGNS = { good: '✓', bad: '✗', doubt: '?', active: '▶', quiet: '–', plain: '', title: '' };
const ASCII_SIGNS = {
  good: '+',
  bad: 'x',
  doubt: '?',
  active: '>',
  quiet: '-',
  plain: '',
  title: '',
};

/** How this run writes for people. */
export interface Style {
  readonly colour: boolean;
  readonly ascii: boolean;
  /** Columns to keep to; infinite where no terminal shows it. */
  readonly width: number;
  /** Stands for what was cut off. */
  readonly ellipsis: string;
  paint(tone: Tone, text: string): string;
  sign(tone: Tone): string;
}

export interface StyleOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTty: boolean;
  readonly columns: number;
  /** `--no-color` was given. */
  readonly noColour: boolean;
  readonly ascii: boolean;
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';
const isForced = (value: string | undefined): boolean => isSet(value) && value !== '0';

/** A flag before NO_COLOR, NO_COLOR before what forces colour, that before the kind of terminal (ux §3.2). */
export function wantsColour({ env, isTty, noColour }: StyleOptions): boolean {
  if (noColour || isSet(env['NO_COLOR'])) return false;
  if (isForced(env['FORCE_COLOR']) || isForced(env['CLICOLOR_FORCE'])) return true;
  return isTty && env['TERM'] !== 'dumb';
}

export function createStyle(options: StyleOptions): Style {
  const colour = wantsColour(options);
  const { ascii, isTty, columns } = options;
  return {
    colour,
    ascii,
    width: isTty ? columns : Number.POSITIVE_INFINITY,
    ellipsis: ascii ? '~' : '…',
    paint: (tone, text) =>
      colour && SGR[tone] !== '' ? `\u001b[${SGR[tone]}m${text}\u001b[0m` : text,
    sign: (tone) => (ascii ? ASCII_SIGNS : SIGNS)[tone],
  };
}
