import { isJsonObject, objectAt, type Json, type JsonObject } from '../../kernel/json.ts';
import { TOOL_DEFAULTS, UPSTREAM_DEFAULTS } from './defaults.ts';
import { createPlainLayer, type Layer } from './layers.ts';
import { defaultPrefix } from './rules.ts';

/** Defaults of a tool that stand elsewhere in the configuration: these are their origins. */
const DERIVED: Readonly<Record<string, string>> = {
  retention: 'retention.tasks',
  concurrency: 'limits.perTool.running',
  queued: 'limits.perTool.queued',
};

/**
 * What holds for each upstream and its tools where nothing is said, as a layer below all others. For showing only: a
 * rule for `*` that somebody wrote and one that nobody wrote must stay apart in why a tool is served as it is.
 */
export function shownDefaultsLayer(merged: JsonObject): Layer {
  const upstreams = objectAt(merged, 'upstreams') ?? {};
  const several = Object.keys(upstreams).length > 1;
  const shown = Object.entries(upstreams).map(([name, entry]) => [
    name,
    {
      ...UPSTREAM_DEFAULTS,
      trustAnnotations: isTrusting(entry),
      prefix: defaultPrefix(name, several),
      tools: {
        '*': toolDefaults(merged, isTrusting(entry)),
      },
    },
  ]);
  const data: JsonObject = { upstreams: Object.fromEntries(shown) as JsonObject };
  return createPlainLayer(data, (path) => DERIVED[String(path.at(-1))] ?? 'default');
}

const isTrusting = (entry: Json | undefined): boolean =>
  isJsonObject(entry) && entry['trustAnnotations'] === true;

function toolDefaults(merged: JsonObject, trusting: boolean): JsonObject {
  const effect: Json = trusting ? 'by readOnlyHint' : 'consequential';
  return {
    mode: 'task-optional',
    effect,
    ...TOOL_DEFAULTS,
    retention: objectAt(merged, 'retention')?.['tasks'],
    concurrency: objectAt(objectAt(merged, 'limits'), 'perTool')?.['running'],
    queued: objectAt(objectAt(merged, 'limits'), 'perTool')?.['queued'],
  };
}
