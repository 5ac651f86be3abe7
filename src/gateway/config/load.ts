import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { LongcallError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/logger.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { checkLayers, type Checked } from './check.ts';
import type { GatewayConfig } from './config.ts';
import { DEFAULTS } from './defaults.ts';
import { defaultUpstreams, noUpstreamNamed } from './default-upstream.ts';
import { findConfigFile } from './discover.ts';
import { environmentLayer } from './environment.ts';
import {
  createPlainLayer,
  layerOf,
  mergeLayers,
  originsOf,
  type ConfigOrigin,
  type Layer,
} from './layers.ts';
import { normalize } from './normalize.ts';
import { ConfigInvalidError, type ConfigProblem } from './problems.ts';
import { shownDefaultsLayer } from './shown-defaults.ts';
import { tokensProblems } from './tokens-file.ts';
import { upstreamsFromTexts } from './upstream-text.ts';
import { readYaml, type Environment, type YamlSource } from './yaml-source.ts';

/** What the command line says about the configuration. */
export interface ConfigFlags {
  /** `--config`. */
  readonly config?: string;
  /** `--data`. */
  readonly data?: string;
  /** `--listen`. */
  readonly listen?: string;
  /** `--admin`. */
  readonly admin?: string;
  /** `--upstream`, once for each; they take the place of all upstreams of the file. */
  readonly upstreams?: readonly string[];
  /** `--i-accept-anonymous-network`. */
  readonly acceptAnonymousNetwork?: boolean;
}

export interface LoadConfigOptions {
  readonly cwd: string;
  readonly env: Environment;
  readonly flags?: ConfigFlags;
}

export interface LoadedConfig {
  readonly config: GatewayConfig;
  /** Where each value comes from, in the order of the document. */
  readonly origins: readonly ConfigOrigin[];
  /** The configuration file; absent where there is none. */
  readonly file?: string;
}

export interface ValidatedConfig {
  readonly file?: string;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads the configuration: defaults, then the file, then `LONGCALL_*`, then flags. Throws `ConfigInvalidError` with
 * everything that is wrong, LONGCALL_CONFIG_NOT_FOUND where a named file is not there, LONGCALL_USAGE where no
 * upstream is named anywhere.
 */
export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const read = readLayers(options);
  const { checked } = read;
  if (read.file === undefined && checked.merged['upstreams'] === undefined) throw noUpstreamNamed();
  if (!checked.file)
    throw new ConfigInvalidError(
      checked.problems,
      checked.onlyUnsafe ? 'LONGCALL_LISTEN_UNSAFE' : undefined,
    );
  const config = normalize({
    file: checked.file,
    acceptAnonymousNetwork: options.flags?.acceptAnonymousNetwork === true,
    folderOf: (path) => baseFolder(read, options.cwd, path),
  });
  const shown = read.layers.toSpliced(1, 0, shownDefaultsLayer(checked.merged));
  const origins = originsOf(shown, mergeLayers(shown));
  return { config, origins, ...(read.file === undefined ? {} : { file: read.file }) };
}

/**
 * The data directory alone, for commands that look for a running gateway: nothing else of the configuration has to be
 * right. Throws as `loadConfig` does where the directory itself cannot be told.
 */
export function loadDataDirectory(options: LoadConfigOptions): string {
  const read = readLayers(options);
  const data = read.checked.merged['data'];
  const concerning = read.checked.problems.filter(({ path }) => path === 'data' || path === '');
  if (typeof data !== 'string' || concerning.length > 0) throw new ConfigInvalidError(concerning);
  return resolve(baseFolder(read, options.cwd, ['data']), data);
}

/** Everything that `loadConfig` would refuse, as values, and what is wrong with the tokens file that it names. */
export function validateConfig(options: LoadConfigOptions): ValidatedConfig {
  const { file, checked } = readLayers(options);
  const tokens = checked.file ? loadConfig(options).config.identity.tokens : undefined;
  const problems = tokens === undefined ? checked.problems : tokensProblems(tokens);
  return { problems, ...(file === undefined ? {} : { file }) };
}

interface ReadLayers {
  readonly file?: string;
  readonly layers: readonly Layer[];
  readonly fileLayer?: Layer;
  readonly checked: Checked;
}

function readLayers({ cwd, env, flags = {} }: LoadConfigOptions): ReadLayers {
  const file = findConfigFile({
    cwd,
    env,
    ...(flags.config === undefined ? {} : { configPath: flags.config }),
  });
  const source = file === undefined ? undefined : readSource({ file, cwd, env });
  const fileLayer = source && createFileLayer(source);
  const said = [...(fileLayer ? [fileLayer] : []), environmentLayer(env), flagLayer(flags)];
  const layers = onlyLastUpstreams([defaultLayer(said, file !== undefined), ...said]);
  const options = {
    acceptAnonymousNetwork: flags.acceptAnonymousNetwork === true,
    earlier: source?.problems ?? [],
  };
  const checked = isUnreadable(source) ? unreadable(options.earlier) : checkLayers(layers, options);
  return {
    layers,
    checked,
    ...(file === undefined ? {} : { file }),
    ...(fileLayer ? { fileLayer } : {}),
  };
}

/** Nothing more can be said about a file that is no mapping. */
function isUnreadable(source: YamlSource | undefined): boolean {
  return source?.problems.some(({ path }) => path === '') ?? false;
}

const unreadable = (problems: readonly ConfigProblem[]): Checked => ({
  merged: {},
  problems,
  onlyUnsafe: false,
});

interface SourceInput {
  readonly file: string;
  readonly cwd: string;
  readonly env: Environment;
}

function readSource({ file, cwd, env }: SourceInput): YamlSource {
  const shown = shorter(relative(cwd, file), file);
  const source = readYaml({ text: readText(file), file: shown, env });
  const isMapping =
    typeof source.root === 'object' && source.root !== null && !Array.isArray(source.root);
  if (isMapping) return source;
  const problem = {
    ...source.valueAt([]),
    path: '',
    message: 'must be a mapping of keys to values',
  };
  return { ...source, problems: [...source.problems, problem] };
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b);

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new LongcallError(
      'LONGCALL_CONFIG_NOT_FOUND',
      `${file} cannot be read: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function createFileLayer(source: YamlSource): Layer {
  return {
    data: source.data,
    originOf: (path) => source.valueAt(path).where,
    placeOf: (path, at) => (at === 'key' ? source.keyAt(path) : source.valueAt(path)),
    shownAt: (path) => source.writtenAt(path),
    isFile: true,
  };
}

/** The defaults, and the demonstration upstream where neither a file nor anything else is there. */
function defaultLayer(said: readonly Layer[], hasFile: boolean): Layer {
  const needsUpstream = !hasFile && said.every(({ data }) => data['upstreams'] === undefined);
  const upstreams = needsUpstream ? defaultUpstreams() : undefined;
  return createPlainLayer(
    upstreams === undefined ? DEFAULTS : { ...DEFAULTS, upstreams },
    () => 'default',
  );
}

/** Upstreams of a higher layer take the place of those below: they are a choice, not an addition. */
function onlyLastUpstreams(layers: readonly Layer[]): readonly Layer[] {
  const last = layers.findLastIndex(({ data }) => data['upstreams'] !== undefined);
  return layers.map((layer, at) => {
    const { upstreams, ...rest } = layer.data;
    return at === last || upstreams === undefined ? layer : { ...layer, data: rest };
  });
}

function flagLayer({ data, listen, admin, upstreams = [] }: ConfigFlags): Layer {
  const listening = {
    ...(listen === undefined ? {} : { mcp: listen }),
    ...(admin === undefined ? {} : { admin }),
  };
  const said: JsonObject = {
    ...(data === undefined ? {} : { data }),
    ...(Object.keys(listening).length === 0 ? {} : { listen: listening }),
    ...(upstreams.length === 0 ? {} : { upstreams: upstreamsFromTexts(upstreams) }),
  };
  return createPlainLayer(said, ([root, member]) => {
    if (root === 'listen') return member === 'admin' ? 'flag --admin' : 'flag --listen';
    return root === 'upstreams' ? 'flag --upstream' : `flag --${root}`;
  });
}

/** Paths in the file are meant from the file; all others from where the command was started. */
function baseFolder(read: ReadLayers, cwd: string, path: readonly string[]): string {
  const fromFile =
    read.fileLayer !== undefined && layerOf(read.layers, path)?.placeOf === read.fileLayer.placeOf;
  return fromFile && read.file !== undefined ? dirname(read.file) : cwd;
}
