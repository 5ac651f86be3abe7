import type { ServedTool, ToolOf } from '../runtime/tool.ts';
import type { UpstreamOptions } from './options.ts';
import type { PeerDocument } from './peer-document.ts';
import type { ToolDirectory } from './served-tools.ts';

type TaskOrigin = Parameters<ToolOf>[0];

/** What of an upstream says whether it has a tool. */
export interface Lister {
  readonly options: UpstreamOptions;
  document(): PeerDocument | undefined;
}

/**
 * The tool that a task was made for, also where an earlier upstream has taken its name since. Where its upstream was not
 * reached yet (it has moved, and nothing is stored for its new address), the tool is presumed to be there still.
 */
export function toolOfTask(
  task: TaskOrigin,
  { byName, hidden }: ToolDirectory,
  upstreams: readonly Lister[],
): ServedTool | undefined {
  const isIts = ({ name, upstream }: ServedTool): boolean =>
    name === task.tool && upstream === task.upstream;
  const first = byName.get(task.tool);
  const listed = first && isIts(first) ? first : hidden.find(isIts);
  if (listed) return listed;
  const upstream = upstreams.find(({ options }) => options.name === task.upstream);
  return upstream && !upstream.document() ? presumedTool(task, upstream.options) : undefined;
}

/** As policy serves it, taken to claim of itself what it claimed when the task was made. */
function presumedTool(
  { tool: name, effect }: TaskOrigin,
  { name: upstream, prefix, policyOf }: UpstreamOptions,
): ServedTool | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const upstreamName = name.slice(prefix.length);
  const policy = policyOf(upstreamName, { readOnlyHint: effect === 'read' }, undefined);
  return { ...policy, name, upstream, upstreamName, definition: { name } };
}
