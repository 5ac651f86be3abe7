import type { Principal } from '../identity/principal.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { AskKind, Generation, InputAnswer } from '../protocol/model.ts';
import type { Question } from './job.ts';
import type { ServedTool } from './tool.ts';

/** A JSON-RPC error of the other side, on its way through unchanged: code, message and data as they came. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Which revision the caller speaks; `older` has no Tasks. */
export type CallerGeneration = Generation | 'older';

/** A request that is passed on as it is. `meta` has only members of other prefixes than the protocol's (decision 17). */
export interface ForwardRequest {
  readonly principal: Principal;
  readonly generation: CallerGeneration;
  readonly method: string;
  /** Without `_meta`. Names and URIs are the caller's; the surface takes prefixes off. */
  readonly params: JsonObject;
  readonly meta: JsonObject;
  /** What the caller can be asked. */
  readonly asks: readonly AskKind[];
  readonly signal: AbortSignal;
  /** Params of notifications/progress without the token; present when the caller wants them. */
  readonly onProgress?: (params: JsonObject) => void;
  /** Params of notifications/message. */
  readonly onLog?: (params: JsonObject) => void;
  /** Asks the caller; absent where the wire has no way to. */
  readonly onAsk?: (question: Question) => Promise<InputAnswer>;
}

/** What a served peer says of itself, joined over the upstreams. */
export interface SurfaceInfo {
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
  /** Neutral server capabilities without tasks and extensions: tools, resources, prompts, completions, logging. */
  readonly capabilities: JsonObject;
  /** Extensions of the upstreams that pass through unchanged. */
  readonly extensions: JsonObject;
}

/** What the upstreams let us know, for sessions and listeners. */
export type SurfaceEvent =
  | { readonly kind: 'list_changed'; readonly list: 'tools' | 'resources' | 'prompts' }
  | {
      readonly kind: 'resource_updated';
      readonly uri: string;
      readonly principalKey: string;
      readonly params: JsonObject;
    }
  | { readonly kind: 'log'; readonly principalKey: string; readonly params: JsonObject };

/** Everything that a face serves beside tasks. The gateway implements it over its upstreams. */
export interface Surface {
  info(): SurfaceInfo;
  /** Every tool, as served now. */
  tools(): readonly ServedTool[];
  tool(name: string): ServedTool | undefined;
  /**
   * Answers any request of ours that is not about tasks, tools/list or the life cycle. Rejects with RpcFailure;
   * a method that no upstream has is -32601.
   */
  forward(request: ForwardRequest): Promise<JsonObject>;
  subscribeResource(principal: Principal, uri: string): Promise<void>;
  unsubscribeResource(principal: Principal, uri: string): Promise<void>;
  setLogLevel(principal: Principal, level: string): Promise<void>;
  onEvent(listener: (event: SurfaceEvent) => void): () => void;
}
