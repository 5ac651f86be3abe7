import type { EffectClass } from '../protocol/model.ts';
import type { JsonObject } from '../kernel/json.ts';
import { stringAt } from '../kernel/json.ts';
import { generationOf, type PeerGeneration } from '../requestor/connection.ts';
import type { TaskSupport } from '../requestor/tool-call.ts';
import type { WireKind } from '../requestor/wire.ts';
import type { ServedTool, ToolMode } from '../runtime/tool.ts';
import { ownTasksOf, taskSupportOf, type PeerDocument } from './peer-document.ts';

/** Whether an upstream can be reached. `connecting`: being tried for the first time, or again. */
export const UPSTREAM_STATES = ['connecting', 'up', 'down'] as const;
export type UpstreamState = (typeof UPSTREAM_STATES)[number];

/** One tool in a manifest. */
export interface ManifestTool {
  /** The upstream's own name. */
  readonly name: string;
  /** The name that callers use; absent where another upstream's tool has it. */
  readonly servedAs?: string;
  readonly mode: ToolMode;
  readonly effect: EffectClass;
  readonly why: string;
  /** What an upstream of 2025-11-25 with tasks says about this tool. */
  readonly taskSupport?: TaskSupport;
}

/** What we know of an upstream, and since when. Facts are absent as long as it was never reached. */
export interface UpstreamManifest {
  readonly upstream: string;
  readonly state: UpstreamState;
  /** Why it is not up, in words for people. */
  readonly problem?: string;
  /** ms since the epoch; facts from before this start come from the store. */
  readonly takenAt?: number;
  readonly name?: string;
  readonly version?: string;
  readonly title?: string;
  readonly instructions?: string;
  readonly protocolVersion?: string;
  readonly generation?: PeerGeneration;
  readonly transport: WireKind;
  readonly capabilities?: JsonObject;
  /** The kind of tasks that it runs itself. */
  readonly ownTasks: 'none' | '2025-11-25' | '2026-07-28';
  readonly tools: readonly ManifestTool[];
}

export interface ManifestInput {
  readonly upstream: string;
  readonly transport: WireKind;
  readonly state: UpstreamState;
  readonly problem?: string;
  readonly document?: PeerDocument;
  readonly takenAt?: number;
  /** Its tools as served; those that another upstream hides are not among them. */
  readonly served: readonly ServedTool[];
  readonly hidden: readonly ServedTool[];
}

export function manifestOf(input: ManifestInput): UpstreamManifest {
  const { document, problem, takenAt } = input;
  return {
    upstream: input.upstream,
    state: input.state,
    transport: input.transport,
    ...(problem === undefined ? {} : { problem }),
    ...(takenAt === undefined ? {} : { takenAt }),
    ...(document ? factsOf(document) : {}),
    ownTasks: document ? ownTasksOf(document) : 'none',
    tools: document ? toolsOf(input, document) : [],
  };
}

function factsOf({ serverInfo, instructions, protocolVersion, capabilities }: PeerDocument) {
  const text = (member: 'name' | 'version' | 'title') => {
    const value = stringAt(serverInfo, member);
    return value === undefined ? {} : { [member]: value };
  };
  return {
    ...text('name'),
    ...text('version'),
    ...text('title'),
    ...(instructions === undefined ? {} : { instructions }),
    protocolVersion,
    generation: generationOf(protocolVersion),
    capabilities,
  };
}

function toolsOf(
  { served, hidden }: ManifestInput,
  document: PeerDocument,
): readonly ManifestTool[] {
  const describe = ({ upstreamName, mode, effect, why }: ServedTool) => {
    const definition = document.tools.find((tool) => tool['name'] === upstreamName);
    const taskSupport = definition && taskSupportOf(document, definition);
    return {
      name: upstreamName,
      mode,
      effect,
      why,
      ...(taskSupport === undefined ? {} : { taskSupport }),
    };
  };
  return [
    ...served.map((tool) => ({ ...describe(tool), servedAs: tool.name })),
    ...hidden.map(describe),
  ];
}
