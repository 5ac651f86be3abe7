import type { Json, JsonObject } from '../../kernel/json.ts';
import type { ExpiryOutcome, FieldClass } from '../../protocol/model.ts';

/** Who started the call, as far as a handler needs to know. Never a token. */
export interface JobPrincipal {
  /** The same for the same person, whatever session or token. */
  readonly key: string;
  readonly tenant: string;
  readonly subject: string;
  readonly anonymous: boolean;
}

export interface StepSite {
  readonly signal: AbortSignal;
  /** An earlier attempt began this step and its end is not known: it is being done again. */
  readonly interrupted: boolean;
}

export interface EffectSite {
  readonly signal: AbortSignal;
  /** Give it to the other side as idempotency key: the same for this effect of this call, whatever attempt. */
  readonly key: string;
  readonly operationId: string;
}

/** A form for the owner. `schema` is the flat JSON Schema of `requestedSchema`. */
export interface FormQuestion {
  readonly message: string;
  readonly schema: JsonObject;
  /** By field; what is not named is `personal`. A field that is `secret`, `payment` or `credential` is refused (G1-50). */
  readonly fields?: Readonly<Record<string, FieldClass>>;
  readonly answerableByModel?: readonly string[];
  /** How long it stays open, in ms; at most the tool's input expiry. */
  readonly expiresInMs?: number;
  /** Default: `fail`. */
  readonly onExpiry?: ExpiryOutcome;
  readonly defaultContent?: JsonObject;
  /** Whether an accept lets something happen: then nobody answering is never a yes. Default: true. */
  readonly approval?: boolean;
}

/** `nobody`: its time passed and its declared outcome was `default`; `content` is the declared one, unless it approves. */
export type FormAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' | 'cancel' }
  | { readonly action: 'nobody'; readonly content?: JsonObject };

export interface UrlQuestion {
  readonly message: string;
  /**
   * The page to open. Gets the confirmation that the page has to give back, once; must carry no secret and no
   * personal data (G1-60). Shown to the owner alone, kept out of status and logs.
   */
  readonly url: (confirmation: Confirmation) => string;
  /** Class of what the page sends along; default `secret`. `secret`, `payment` and `credential` come sealed. */
  readonly fieldClass?: FieldClass;
  readonly expiresInMs?: number;
  /** Default: `fail`. */
  readonly onExpiry?: Exclude<ExpiryOutcome, 'default'>;
}

export interface Confirmation {
  /** Single use, unguessable; worth nothing to anybody but the owner. */
  readonly token: string;
  /** Where the page's own server or the owner's client confirms over HTTP, if this process serves HTTP. */
  readonly callbackUrl?: string;
}

export type UrlAnswer =
  | { readonly action: 'confirmed'; readonly content?: JsonObject; readonly sealed?: SealedValue }
  | { readonly action: 'decline' | 'cancel' };

/** A value that no journal keeps. It is decrypted for one function, and erased when that has finished. */
export interface SealedValue {
  /** A journalled step that may see the value. Can be used once. */
  use<T>(name: string, work: (value: JsonObject, at: StepSite) => T | Promise<T>): Promise<T>;
}

/**
 * What a handler gets beside its arguments. Everything that it remembers is named, and names are unique within one
 * call: a later attempt runs the handler again from its beginning, and what was finished is answered from the journal
 * without being done again. So code between steps must not depend on time, randomness or the outside world, and must
 * have no effects of its own.
 */
export interface JobContext {
  readonly taskId: string;
  /** The call's own row in the ledger; absent for reads. */
  readonly operationId?: string;
  readonly principal: JobPrincipal;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted on cancel, at the run limit, when the lease is lost, and at shutdown. */
  readonly signal: AbortSignal;
  /** When the run limit passes, in ms since the epoch, if nothing is asked from here on. */
  readonly deadline: number;
  /** Stable for the call: an idempotency key to hand on. */
  readonly key: string;
  /**
   * Does `work` once and remembers what it returned or threw. Interrupted by a death it is done again: what must not
   * be is an `effect`. What it returns has to be plain JSON, or nothing; anything else rejects (LONGCALL_STEP_REFUSED).
   */
  step<T>(name: string, work: (at: StepSite) => T | Promise<T>): Promise<T>;
  /**
   * Sends something that must not be repeated. It is in the ledger as dispatched before `work` begins, and what it
   * returns is its receipt. Interrupted by a death its outcome is unknown, and it is never sent again by guess.
   */
  effect<T>(name: string, work: (at: EffectSite) => T | Promise<T>): Promise<T>;
  /** Asks the owner; waits in the store, without a worker, and survives restarts. */
  ask(name: string, form: FormQuestion): Promise<FormAnswer>;
  /** Several forms at once; resolves when each has its answer. */
  askAll<Name extends string>(
    forms: Readonly<Record<Name, FormQuestion>>,
  ): Promise<Readonly<Record<Name, FormAnswer>>>;
  /** Sends the owner to a page; resolves when the page itself has confirmed. */
  askUrl(name: string, question: UrlQuestion): Promise<UrlAnswer>;
  /** Waits in the store until that time, in ms since the epoch. */
  sleepUntil(name: string, at: number): Promise<void>;
  /** Shown as status and sent as progress; not journalled, never fails. */
  progress(done: number, total?: number, text?: string): void;
  log(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void;
}
