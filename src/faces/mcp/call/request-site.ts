import type { Principal } from '../../../identity/principal.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { AskKind } from '../../../protocol/model.ts';
import type { CallerGeneration } from '../../../runtime/surface.ts';
import type { Face } from '../face.ts';
import type { CallWords } from '../meta.ts';

/** One request on its way: who asks, with what, and how to reach the caller while it is open. */
export interface RequestSite {
  readonly face: Face;
  readonly principal: Principal;
  readonly generation: CallerGeneration;
  /** As they came, without `_meta` and without what is between the caller and us. */
  readonly params: JsonObject;
  /** The members of `_meta` that pass through. */
  readonly meta: JsonObject;
  /** The members of `_meta` that are for us and go no further. */
  readonly words: CallWords;
  readonly progressToken: string | number | undefined;
  /** What the caller can be asked. */
  readonly asks: readonly AskKind[];
  /** Aborted when the caller stops the request or is gone for good. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: JsonObject): void;
  wantsLog(level: unknown): boolean;
}
