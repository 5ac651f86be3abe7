import { isJsonObject, stringAt, type Json, type JsonObject } from '../kernel/json.ts';
import { safeText } from '../kernel/text.ts';
import { fieldsOf } from '../protocol/field-class.ts';

/** Choices that are named in full; a person who reads more of them is not helped. */
const CHOICES_SHOWN = 12;
const WORDS_MAX = 300;

const listAt = (schema: JsonObject, keyword: string): readonly Json[] | undefined => {
  const list = schema[keyword];
  return Array.isArray(list) ? list : undefined;
};

/** The values that a field can take, where they are listed. */
function choicesOf(field: JsonObject): readonly Json[] | undefined {
  const options = listAt(field, 'oneOf') ?? listAt(field, 'anyOf');
  const constants = options?.flatMap((option) =>
    isJsonObject(option) && option['const'] !== undefined ? [option['const']] : [],
  );
  return listAt(field, 'enum') ?? (constants?.length ? constants : undefined);
}

function choiceWords(choices: readonly Json[]): string {
  const named = choices.slice(0, CHOICES_SHOWN).map((choice) => JSON.stringify(choice));
  const more = choices.length - named.length;
  return `one of ${named.join(', ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}

function rangeWords(field: JsonObject, [from, to]: readonly [string, string], unit = ''): string {
  const [least, most] = [field[from], field[to]];
  const words = [
    ...(typeof least === 'number' ? [`at least ${least}${unit}`] : []),
    ...(typeof most === 'number' ? [`at most ${most}${unit}`] : []),
  ];
  return words.length === 0 ? '' : `, ${words.join(' and ')}`;
}

function itemWords({ items }: JsonObject): string {
  return isJsonObject(items) ? `, each ${expected(items)}` : '';
}

function textWords(field: JsonObject): string {
  const format = field['format'];
  const form = typeof format === 'string' ? ` in the format ${format}` : '';
  return `text${form}${rangeWords(field, ['minLength', 'maxLength'], ' characters')}`;
}

const NUMBER_RANGE = ['minimum', 'maximum'] as const;

const TYPE_WORDS: Readonly<Record<string, (field: JsonObject) => string>> = {
  boolean: () => 'true or false',
  integer: (field) => `a whole number${rangeWords(field, NUMBER_RANGE)}`,
  number: (field) => `a number${rangeWords(field, NUMBER_RANGE)}`,
  array: (field) =>
    `a list${rangeWords(field, ['minItems', 'maxItems'], ' long')}${itemWords(field)}`,
};

/** What a field takes, in words for whoever fills it in. */
function expected(field: JsonObject): string {
  const choices = choicesOf(field);
  if (choices) return choiceWords(choices);
  const words = TYPE_WORDS[stringAt(field, 'type') ?? ''] ?? textWords;
  return words(field);
}

/** How the validator spells a field in the path of what is wrong. */
const pathOf = (name: string): string => `data/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * What is wrong with the content of a form, from what the validator says: the field and what it takes. The validator
 * speaks of fields and keywords, never of values; neither does this.
 */
export function misfitWords(schema: JsonObject, said: string): string {
  const named = Object.entries(fieldsOf(schema)).find(([name]) =>
    ['/', ' '].some((after) => said.startsWith(pathOf(name) + after)),
  );
  if (named && isJsonObject(named[1]))
    return safeText(`content: the field ${named[0]} must be ${expected(named[1])}`, WORDS_MAX);
  const missing = /^data must have required property '(.*?)'(?:, data|$)/.exec(said)?.[1];
  return safeText(
    missing === undefined
      ? said.replace(/^data/, 'content')
      : `content: the field ${missing} is missing: it must be ${expected(fieldAt(schema, missing))}`,
    WORDS_MAX,
  );
}

function fieldAt(schema: JsonObject, name: string): JsonObject {
  const field = fieldsOf(schema)[name];
  return isJsonObject(field) ? field : {};
}
