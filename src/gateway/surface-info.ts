import { isJsonObject, objectAt, type Json, type JsonObject } from '../kernel/json.ts';
import { TASKS_EXTENSION } from '../protocol/names.ts';
import type { ClientInfo } from '../requestor/envelope.ts';
import type { SurfaceInfo } from '../runtime/surface.ts';
import type { PeerDocument } from './peer-document.ts';

/** An upstream and what it said of itself. */
export interface Described {
  readonly name: string;
  readonly document: PeerDocument | undefined;
}

/** What the gateway says of itself: one upstream speaks for itself, several are joined under our own name. */
export function joinInfo(upstreams: readonly Described[], ownInfo: ClientInfo): SurfaceInfo {
  const known = upstreams.flatMap(({ name, document }) => (document ? [{ name, document }] : []));
  const only = upstreams.length === 1 ? known[0]?.document : undefined;
  const named =
    only &&
    typeof only.serverInfo['name'] === 'string' &&
    typeof only.serverInfo['version'] === 'string';
  const instructions = joinInstructions(known);
  const capabilities = known.map(({ document }) => document.capabilities);
  return {
    serverInfo: named ? only.serverInfo : { name: ownInfo.name, version: ownInfo.version },
    ...(instructions === '' ? {} : { instructions }),
    capabilities: withChanges(joinCapabilities(capabilities)),
    extensions: joinExtensions(capabilities),
  };
}

function joinInstructions(
  known: readonly { readonly name: string; readonly document: PeerDocument }[],
): string {
  const parts = known.flatMap(({ name, document: { instructions } }) =>
    instructions ? [{ name, instructions }] : [],
  );
  if (known.length === 1) return parts[0]?.instructions ?? '';
  return parts.map(({ name, instructions }) => `# ${name}\n\n${instructions}`).join('\n\n');
}

/** Tasks and extensions are each hop's own (decision 17); the rest is joined member by member. */
function joinCapabilities(all: readonly JsonObject[]): JsonObject {
  return all.reduce<JsonObject>(
    (joined, { tasks: _tasks, extensions: _extensions, ...rest }) => merge(joined, rest),
    {},
  );
}

function merge(left: JsonObject, right: JsonObject): JsonObject {
  const members = Object.entries(right).map(([name, value]) => [
    name,
    mergeValue(left[name], value),
  ]);
  return { ...left, ...(Object.fromEntries(members) as JsonObject) };
}

function mergeValue(left: Json | undefined, right: Json | undefined): Json | undefined {
  if (isJsonObject(left) && isJsonObject(right)) return merge(left, right);
  return left === true || right === undefined ? left : right;
}

/** Lists change here also where the upstream's own never do: it may go away and come back as another version. */
function withChanges(capabilities: JsonObject): JsonObject {
  const listed = ['tools', 'prompts', 'resources'].filter(
    (name) => name === 'tools' || capabilities[name] !== undefined,
  );
  const changing = listed.map((name) => [
    name,
    { ...objectAt(capabilities, name), listChanged: true },
  ]);
  return { ...capabilities, ...(Object.fromEntries(changing) as JsonObject) };
}

function joinExtensions(all: readonly JsonObject[]): JsonObject {
  return all.reduce<JsonObject>((joined, capabilities) => {
    const { [TASKS_EXTENSION]: _tasks, ...rest } = objectAt(capabilities, 'extensions') ?? {};
    return { ...joined, ...rest };
  }, {});
}
