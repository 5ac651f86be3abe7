import { createHash } from 'node:crypto';
import type { Timer } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import type { RequestSite } from '../call/request-site.ts';
import type { Face } from '../face.ts';
import { atCapacity, invalidParams } from '../failures.ts';
import { readInputResponses } from '../input-responses.ts';
import type { Reply } from '../reply.ts';
import type { HeldCall, RoundQuestion } from './held-call.ts';
import { questionParams } from './results.ts';

/** Begins every `requestState` of ours; others are an upstream's own. */
const PREFIX = 'longcall.';
const PURPOSE = 'mcp.request-state';
const HELD_MAX = 512;
const HELD_PER_PRINCIPAL_MAX = 64;
const HELD_RETRY_MS = 10_000;

/**
 * Multi-round exchanges of 2026-07-28: a question goes back as `InputRequiredResult`, the call is held for a bounded
 * time, and the retry with its answers goes on with it. `requestState` is signed, names the principal and the request
 * that it was made for, expires, and opens one held call once (G2-64, G2-65).
 */
export interface Rounds {
  /** Runs a call up to its answer or its next question. */
  run(site: RequestSite, method: string, call: HeldCall): Promise<Reply | undefined>;
  /** The same for a retry that carries a state of ours. */
  resume(site: RequestSite, method: string, state: string): Promise<Reply | undefined>;
  isOurs(state: unknown): state is string;
  close(): void;
}

interface Held {
  readonly owner: string;
  readonly call: HeldCall;
  readonly timer: Timer;
}

const badState = (): Error =>
  invalidParams('requestState is unknown, expired, already used, or was made for another request');

/** What a retry repeats: the request without its answers. */
function digestOf(site: RequestSite, method: string): string {
  const { inputResponses: _, requestState: __, ...params } = site.params;
  let text: string;
  try {
    text = canonicalJson([method, params]);
  } catch {
    text = JSON.stringify([method, params]); // numbers without a canonical form: the caller's own order will do
  }
  return createHash('sha256').update(text).digest('base64url');
}

const requestOf = ({ method, params }: RoundQuestion): JsonObject => ({
  method,
  params: questionParams(params),
});

function inputRequired(questions: readonly RoundQuestion[], requestState: string): JsonObject {
  const inputRequests = Object.fromEntries(
    questions.map((question) => [question.key, requestOf(question)]),
  );
  return { resultType: 'input_required', inputRequests, requestState };
}

export function createRounds(face: Face): Rounds {
  const { clock, random, sealer, holdMs } = face;
  const held = new Map<string, Held>();

  const release = (holdId: string): HeldCall | undefined => {
    const found = held.get(holdId);
    found?.timer.cancel();
    held.delete(holdId);
    return found?.call;
  };
  const drop = (holdId: string): void => release(holdId)?.drop();
  const hold = ({ principal }: RequestSite, call: HeldCall, holdId: string): void => {
    const timer = clock.after(holdMs, () => drop(holdId));
    held.set(holdId, { owner: principal.key, call, timer });
  };
  const assertRoom = ({ principal }: RequestSite, call: HeldCall): void => {
    const own = Array.from(held.values()).filter(({ owner }) => owner === principal.key).length;
    if (held.size < HELD_MAX && own < HELD_PER_PRINCIPAL_MAX) return;
    call.drop();
    throw atCapacity('held calls', HELD_RETRY_MS);
  };
  const seal = (site: RequestSite, method: string, holdId: string): string => {
    const payload = { hold: holdId, owner: site.principal.key, request: digestOf(site, method) };
    return PREFIX + sealer.seal(PURPOSE, payload, clock.now() + holdMs);
  };
  /** Takes the held call out, so that the state opens nothing a second time. */
  const open = (
    site: RequestSite,
    method: string,
    state: string,
  ): { readonly id: string; readonly call: HeldCall } => {
    const payload = sealer.open(PURPOSE, state.slice(PREFIX.length), clock.now());
    const id = payload?.['hold'];
    if (payload?.['owner'] !== site.principal.key || payload['request'] !== digestOf(site, method))
      throw badState();
    const call = typeof id === 'string' ? release(id) : undefined;
    if (typeof id !== 'string' || !call) throw badState();
    return { id, call };
  };
  const run: Rounds['run'] = async (site, method, call) => {
    const step = await call.next(site);
    if (step.kind === 'reply') return step.reply;
    assertRoom(site, call);
    const holdId = newId('event', random);
    hold(site, call, holdId);
    const result = inputRequired(step.questions, seal(site, method, holdId));
    // A question that never reached its caller will not be answered: the call ends like one whose stream was closed.
    const onDelivery: Reply['onDelivery'] = (delivery) =>
      void (delivery === 'gone' && drop(holdId));
    return { body: { kind: 'result', result }, onDelivery };
  };
  return {
    run,
    isOurs: (state): state is string => typeof state === 'string' && state.startsWith(PREFIX),
    async resume(site, method, state) {
      const responses = readInputResponses(site.params['inputResponses'] ?? {});
      const { id, call } = open(site, method, state);
      try {
        await call.answer(site, responses);
      } catch (error) {
        hold(site, call, id); // nothing was taken: the same state may come again with better answers
        throw error;
      }
      return run(site, method, call);
    },
    close: () => Array.from(held.keys()).forEach(drop),
  };
}
