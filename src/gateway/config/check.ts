import type { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';
import { isLaterKey } from './later-keys.ts';
import { layerOf, mergeLayers, valueAt, type Layer } from './layers.ts';
import { orderProblems, pathText, type ConfigPath, type ConfigProblem } from './problems.ts';
import { brokenRules, type Finding } from './rules.ts';
import { configSchema, type ConfigFile } from './schema.ts';
import { knownKeysAt } from './known-keys.ts';
import { didYouMean } from './suggest.ts';

export interface Checked {
  /** The merged document as written. */
  readonly merged: JsonObject;
  /** Present where nothing is wrong. */
  readonly file?: ConfigFile;
  readonly problems: readonly ConfigProblem[];
  /** Whether all that is wrong is listening beyond loopback without identity. */
  readonly onlyUnsafe: boolean;
}

export interface CheckOptions {
  readonly acceptAnonymousNetwork: boolean;
  /** What reading the file already found. */
  readonly earlier: readonly ConfigProblem[];
}

/** Judges the merged layers: everything that is wrong at once, each where it was written. */
export function checkLayers(
  layers: readonly Layer[],
  { acceptAnonymousNetwork, earlier }: CheckOptions,
): Checked {
  const merged = mergeLayers(layers);
  const parsed = configSchema.safeParse(merged);
  const issues = parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) => findingsOf(issue, merged));
  const findings = [...brokenRules({ data: merged, acceptAnonymousNetwork }), ...issues];
  const checked = {
    merged,
    problems: orderProblems([...earlier, ...findings.map((finding) => locate(layers, finding))]),
    onlyUnsafe:
      earlier.length === 0 &&
      findings.length > 0 &&
      findings.every(({ unsafe }) => unsafe === true),
  };
  return parsed.success && checked.problems.length === 0
    ? { ...checked, file: parsed.data }
    : checked;
}

function locate(layers: readonly Layer[], { path, message, at }: Finding): ConfigProblem {
  const place = layerOf(layers, path)?.placeOf(path, at) ?? { where: '' };
  return { ...place, path: pathText(path), message };
}

function findingsOf(issue: z.core.$ZodIssue, merged: JsonObject): readonly Finding[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey([...path, key]));
  if (issue.code === 'invalid_key') return [{ path, message: badKeyMessage(path), at: 'key' }];
  const value = valueAt(merged, path);
  if (value === undefined) return [{ path, message: 'is missing', at: 'key' }];
  return [{ path, message: messageOf(issue, value), at: 'value' }];
}

function unknownKey(path: ConfigPath): Finding {
  if (isLaterKey(path))
    return { path, message: 'is not available in this version; leave it out', at: 'key' };
  const key = String(path.at(-1));
  const known = knownKeysAt(path.slice(0, -1));
  return { path, message: `unknown key${didYouMean(key, known)}`, at: 'key' };
}

function badKeyMessage(path: ConfigPath): string {
  return path[0] === 'upstreams' && path.length === 2
    ? 'the name of an upstream is at most 64 letters, digits, _ or -'
    : 'cannot be used as a name here';
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === 'invalid_value')
    return wordMessage(issue.values.map(String), value, issue.message);
  if (issue.code === 'invalid_type' && issue.expected === 'object')
    return 'must be a mapping of keys to values';
  return issue.message;
}

/** A closed set names its words; a set of one says in its own message why there is no other. */
function wordMessage(words: readonly string[], value: unknown, own: string): string {
  if (words.length === 1) return own;
  const meant = typeof value === 'string' ? didYouMean(value, words) : '';
  return `must be one of ${words.join(', ')}${meant}`;
}
