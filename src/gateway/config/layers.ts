import { isJsonObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { pathText, type ConfigPath } from './problems.ts';
import { shownValue } from './shown-values.ts';
import type { YamlPlace } from './yaml-source.ts';

/** One source of values. A later layer wins over an earlier one, key by key; lists are replaced whole. */
export interface Layer {
  readonly data: JsonObject;
  /** Where the value at that path was said, for people. */
  originOf(path: ConfigPath): string;
  /** Where to point when the value is wrong; `at` is the key rather than the value. */
  placeOf(path: ConfigPath, at: 'key' | 'value'): YamlPlace;
  /** The value as it may be shown: as written, before substitution. */
  shownAt(path: ConfigPath): unknown;
  /** The configuration file: what is said nowhere is missing there. */
  readonly isFile?: boolean;
}

/** Where each value of the merged configuration comes from. */
export interface ConfigOrigin {
  readonly path: string;
  /** As written in its source; what may be a secret is `[hidden]`. */
  readonly value: Json;
  readonly origin: string;
}

/** Values without a file behind them: defaults, flags, the environment. */
export function createPlainLayer(data: JsonObject, originOf: (path: ConfigPath) => string): Layer {
  return {
    data,
    originOf,
    placeOf: (path) => ({ where: originOf(path) }),
    shownAt: (path) => valueAt(data, path),
  };
}

export function valueAt(data: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return (value as readonly unknown[])[Number(key)];
    return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, data);
}

/** Joins layers, lowest first. */
export function mergeLayers(layers: readonly Layer[]): JsonObject {
  return layers.reduce<JsonObject>((merged, { data }) => mergeObjects(merged, data), {});
}

function mergeObjects(below: JsonObject, above: JsonObject): JsonObject {
  const merged = new Map(Object.entries(below));
  for (const [key, value] of Object.entries(above)) {
    const under = merged.get(key);
    merged.set(
      key,
      isJsonObject(under) && isJsonObject(value) ? mergeObjects(under, value) : value,
    );
  }
  return Object.fromEntries(merged);
}

/** The highest layer that says anything at that path, or around it. */
export function layerOf(layers: readonly Layer[], path: ConfigPath): Layer | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const found = layers.findLast(({ data }) => valueAt(data, path.slice(0, length)) !== undefined);
    if (found) return found;
  }
  return (
    layers.find(({ isFile }) => isFile) ??
    layers.findLast(({ data }) => Object.keys(data).length > 0)
  );
}

/** Every value that is no mapping, with its source, in the order of the merged document. */
export function originsOf(layers: readonly Layer[], merged: JsonObject): readonly ConfigOrigin[] {
  return leavesOf(merged, []).map((path) => {
    const layer = layerOf(layers, path);
    const shown = layer?.shownAt(path) ?? valueAt(merged, path) ?? null;
    return {
      path: pathText(path),
      value: shownValue(path, shown as Json),
      origin: layer?.originOf(path) ?? 'default',
    };
  });
}

function leavesOf(value: unknown, path: ConfigPath): readonly ConfigPath[] {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]));
}
