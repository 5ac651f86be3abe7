import type { JsonObject } from '../../../kernel/json.ts';
import type { InputMethod } from '../../../protocol/model.ts';
import type { RequestSite } from '../call/request-site.ts';
import type { InputResponses } from '../input-responses.ts';
import type { Reply } from '../reply.ts';

/** One question of a round, under the key that its answer will name. */
export interface RoundQuestion {
  readonly key: string;
  readonly method: InputMethod;
  readonly params: JsonObject;
}

/** What a call came to in one request: its answer (or none, when it was stopped), or questions to go back with. */
export type Step =
  | { readonly kind: 'reply'; readonly reply: Reply | undefined }
  | { readonly kind: 'ask'; readonly questions: readonly RoundQuestion[] };

/** A call that may take several requests: asked in one, answered in the next, one call all the time. */
export interface HeldCall {
  /** Waits, in this request's name, for whatever comes next. Rejects with the call's error. */
  next(site: RequestSite): Promise<Step>;
  /** Takes the answers of a retry. Throws, and takes nothing, where one of them cannot be one. */
  answer(site: RequestSite, responses: InputResponses): Promise<void>;
  /** Nobody came back in time, or the caller is gone. */
  drop(): void;
}
