import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
} from 'yaml';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { messageOf } from '../../kernel/logger.ts';
import { pathText, type ConfigPath, type ConfigProblem } from './problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A YAML file that knows where each of its values stands. */
export interface YamlSource {
  /** The file's values after substitution; empty where the file is empty or cannot be read as a mapping. */
  readonly data: JsonObject;
  /** A document whose root is a list, for files that are one. */
  readonly root: unknown;
  readonly problems: readonly ConfigProblem[];
  /** Where the value stands, or the nearest thing around it. */
  valueAt(path: ConfigPath): YamlPlace;
  /** Where the key of that path stands. */
  keyAt(path: ConfigPath): YamlPlace;
  /** A scalar as it was written, before substitution: free of what the environment holds. */
  writtenAt(path: ConfigPath): unknown;
}

export type YamlPlace = Pick<ConfigProblem, 'where' | 'file' | 'line' | 'column'>;

export interface YamlInput {
  readonly text: string;
  /** As people know it: it goes into messages. */
  readonly file: string;
  /** For `${NAME}`; absent leaves the text as it is. */
  readonly env?: Environment;
}

const VARIABLE = /\$(\$)?\{([^}]*)\}/g;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface Substituted {
  readonly text: string;
  readonly missing: readonly string[];
}

/** `${NAME}` becomes the environment's value, `$${NAME}` stays as `${NAME}`. */
function substitute(written: string, env: Environment): Substituted {
  const missing: string[] = [];
  const text = written.replace(
    VARIABLE,
    (whole: string, escaped: string | undefined, name: string) => {
      if (escaped !== undefined) return whole.slice(1);
      const value = VARIABLE_NAME.test(name) ? env[name] : undefined;
      if (value === undefined) missing.push(name);
      return value ?? '';
    },
  );
  return { text, missing };
}

function variableMessage(name: string): string {
  return VARIABLE_NAME.test(name)
    ? `the environment has no ${name}; set it, or write $\${${name}} for the text itself`
    : `\${${name}} names no environment variable; write $\${ for the text itself`;
}

/** The node at a path, and how far the path led. */
function nodeAt(document: Document, path: ConfigPath): Node | null {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  return (node ?? null) as Node | null;
}

function nearestNode(document: Document, path: ConfigPath): Node | null {
  for (let length = path.length; length > 0; length -= 1) {
    const node =
      nodeAt(document, path.slice(0, length)) ?? keyNode(document, path.slice(0, length));
    if (node) return node;
  }
  return document.contents;
}

function keyNode(document: Document, path: ConfigPath): Node | null {
  const parent = nodeAt(document, path.slice(0, -1));
  const wanted = path.at(-1);
  if (!isMap(parent)) return null;
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === wanted);
  return isScalar(pair?.key) ? pair.key : null;
}

/** Reads YAML 1.2 without custom tags; never throws. */
export function readYaml({ text, file, env }: YamlInput): YamlSource {
  const lines = new LineCounter();
  const document: Document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
  });
  const placeAt = (offset: number = 0): YamlPlace => {
    const { line, col } = lines.linePos(offset);
    const [safeLine, safeColumn] = [Math.max(1, line), Math.max(1, col)];
    return { where: `${file}:${safeLine}:${safeColumn}`, file, line: safeLine, column: safeColumn };
  };
  const syntax = document.errors.map((error) => ({
    ...placeAt(error.pos[0]),
    path: '',
    message: `not valid YAML: ${lowerFirst(error.message)}`,
  }));
  const written = new Map<unknown, string>();
  const missing =
    env && syntax.length === 0 ? substituteAll({ document, env, placeAt, written }) : [];
  const read = syntax.length === 0 ? readRoot(document) : { value: {} };
  const root: unknown = 'value' in read ? read.value : {};
  const broken =
    'broken' in read
      ? [{ ...placeAt(0), path: '', message: `not usable YAML: ${read.broken}` }]
      : [];
  return {
    data: isJsonObject(root) ? root : {},
    root,
    problems: [...syntax, ...broken, ...missing],
    valueAt: (path) => placeAt(nearestNode(document, path)?.range?.[0]),
    keyAt: (path) => placeAt((keyNode(document, path) ?? nearestNode(document, path))?.range?.[0]),
    writtenAt: (path) => writtenValue(document, nodeAt(document, path), written),
  };
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** A scalar or a list of them as it was written; mappings are asked for member by member. */
function writtenValue(
  document: Document,
  node: unknown,
  written: ReadonlyMap<unknown, string>,
): unknown {
  if (isAlias(node)) return writtenValue(document, node.resolve(document), written);
  if (isSeq(node)) return node.items.map((item) => writtenValue(document, item, written));
  return written.get(node) ?? (isScalar(node) ? node.value : undefined);
}

/** The values, or why they cannot be made: aliases are bounded, so that a small file cannot blow up to a large one. */
function readRoot(document: Document): { readonly value: unknown } | { readonly broken: string } {
  try {
    return { value: document.contents === null ? {} : document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { broken: lowerFirst(messageOf(error)) };
  }
}

interface Substitution {
  readonly document: Document;
  readonly env: Environment;
  placeAt(offset: number | undefined): YamlPlace;
  /** Receives the text of each changed scalar as it was. */
  readonly written: Map<unknown, string>;
}

function substituteAll({
  document,
  env,
  placeAt,
  written,
}: Substitution): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return;
      const path = pathOf(ancestors, node);
      const { text, missing } = substitute(node.value, env);
      for (const name of missing)
        problems.push({
          ...placeAt(node.range?.[0]),
          path: pathText(path),
          message: variableMessage(name),
        });
      written.set(node, node.value);
      node.value = text;
    },
  });
  return problems;
}

/** The path to a node from the chain above it: documents, pairs and lists. */
function pathOf(ancestors: readonly unknown[], node: Node): ConfigPath {
  const chain = [...ancestors, node];
  return chain.flatMap((step, at): ConfigPath => {
    if (isSeq(step)) return [step.items.indexOf(chain[at + 1])];
    if (isMap(step)) return keyOf(chain[at + 1]);
    return [];
  });
}

function keyOf(pair: unknown): readonly string[] {
  const key = (pair as { readonly key?: unknown } | undefined)?.key;
  return isScalar(key) ? [String(key.value)] : [];
}
