import { objectAt, stringAt, type JsonObject } from '../kernel/json.ts';
import { listKeyArgument } from '../runtime/idempotency/key-argument.ts';
import type { ServedTool } from '../runtime/tool.ts';
import { describeArtifactArguments } from './artifact-arguments.ts';
import type { UpstreamOptions } from './options.ts';
import { taskSupportOf, type PeerDocument } from './peer-document.ts';

/** Every tool of an upstream as it would be served, before names of several upstreams collide. */
export function serveTools(
  options: UpstreamOptions,
  document: PeerDocument,
): readonly ServedTool[] {
  return document.tools.flatMap((definition) => {
    const upstreamName = stringAt(definition, 'name');
    if (upstreamName === undefined) return [];
    const taskSupport = taskSupportOf(document, definition);
    const policy = options.policyOf(upstreamName, objectAt(definition, 'annotations'), taskSupport);
    const name = `${options.prefix}${upstreamName}`;
    const { idempotency } = policy;
    const listed = listKeyArgument({
      definition: describeArtifactArguments(
        frontDefinition(definition, name),
        policy.artifactArguments,
      ),
      ...(idempotency ? { idempotency } : {}),
    });
    return [{ ...policy, ...listed, name, upstream: options.name, upstreamName }];
  });
}

/** The upstream's own task support is between it and us: how we serve the tool is listed in its place (decision 17). */
function frontDefinition(definition: JsonObject, name: string): JsonObject {
  const { execution: _execution, ...rest } = definition;
  const { taskSupport: _taskSupport, ...other } = objectAt(definition, 'execution') ?? {};
  return { ...rest, name, ...(Object.keys(other).length === 0 ? {} : { execution: other }) };
}

/** Tools by the names that callers use. */
export interface ToolDirectory {
  readonly served: readonly ServedTool[];
  readonly byName: ReadonlyMap<string, ServedTool>;
  /** Tools whose name an earlier upstream has, or we ourselves. */
  readonly hidden: readonly ServedTool[];
}

/**
 * Joins the tools of several upstreams: where a name comes twice, the earlier upstream has it. `reserved`: names of tools
 * of our own, which no upstream may have: a model would call the one and mean the other.
 */
export function joinTools(
  toolsByUpstream: readonly (readonly ServedTool[])[],
  reserved: readonly string[] = [],
): ToolDirectory {
  const byName = new Map<string, ServedTool>();
  const hidden: ServedTool[] = [];
  for (const tool of toolsByUpstream.flat()) {
    if (byName.has(tool.name) || reserved.includes(tool.name)) hidden.push(tool);
    else byName.set(tool.name, tool);
  }
  return { served: Array.from(byName.values()), byName, hidden };
}
