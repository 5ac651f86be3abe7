import type { Task } from '../../../protocol/model.ts';
import { codec2026 } from '../../../protocol/select-codec.ts';
import { endAbandoned, endAtLimit, isStopped } from '../call/bounded-call.ts';
import type { CallSite, HeardTask } from '../call/call-site.ts';
import { inlineAnswer } from '../call/inline-answer.ts';
import { relayTask } from '../call/relay.ts';
import type { RequestSite } from '../call/request-site.ts';
import { readableBy } from '../client-capabilities.ts';
import { noSuchTask } from '../failures.ts';
import { assertWellFormed, malformedAnswer } from '../input-responses.ts';
import { resultReply, type Reply } from '../reply.ts';
import type { HeldCall, RoundQuestion, Step } from './held-call.ts';

/** How one call of a record of ours is answered. Decided at its first request; the time counts anew in each. */
export interface HoldPlan {
  /** How long this request may wait for the plain answer; `round` counts the answered rounds. */
  waitMs(round: number): number;
  /** Whether a question goes back as a round. Otherwise it becomes the task's, behind the handle. */
  readonly asksInRounds: boolean;
  /** What there is when the wait is over: the handle, or nothing but an end. */
  readonly afterwards: 'handle' | 'limit';
}

/** The handle leaves. Only when it was written is it given; when not, the call ends like one that was stopped (decision 1). */
export function handleReply(site: RequestSite, task: Task): Reply {
  const { handles } = site.face;
  return {
    ...resultReply(codec2026.encodeCreate(task)),
    onDelivery: (delivery) => {
      if (delivery === 'written') handles.given(task.id);
      else handles.abandon(task.id, { stopUpstream: false });
    },
  };
}

/** The plain answer within the time that the call has; on its way out it is as pending as a handle. */
export async function plainReply(site: CallSite, task: Task): Promise<Reply> {
  const answer = await inlineAnswer(site, task);
  return {
    ...answer,
    onDelivery: (delivery) => {
      answer.onDelivery?.(delivery);
      if (delivery === 'gone') site.face.handles.abandon(task.id, { stopUpstream: false });
    },
  };
}

async function questionsFor(site: RequestSite, task: Task): Promise<readonly RoundQuestion[]> {
  if (site.asks.length === 0) return [];
  const view = await site.face.receiver.view(site.principal, task.id, false);
  return view ? readableBy(site.asks, view).inputs : [];
}

const reply = (answer: Reply | undefined): Step => ({ kind: 'reply', reply: answer });

/** A call that runs as a record of ours, over one or more requests. */
export function createHeldTask(first: CallSite, heard: HeardTask, plan: HoldPlan): HeldCall {
  const { face, tool, arguments: args } = first;
  const { task } = heard;
  let round = 0;

  const waitOn = async (site: CallSite, untilAsked: boolean): Promise<Step> => {
    const forMs = plan.waitMs(round);
    const options = { forMs, signal: site.signal, untilAsked };
    const waited =
      forMs > 0 ? await face.receiver.wait(site.principal, task.id, options) : 'elapsed';
    switch (waited) {
      case 'ended':
        return reply(await plainReply(site, task));
      case 'aborted':
        // What is on record already needs no waiting: at a shutdown the handle is the answer.
        if (plan.afterwards === 'handle' && !isStopped(site)) return reply(handleReply(site, task));
        return reply(endAbandoned(site, task));
      case 'elapsed':
        return plan.afterwards === 'handle'
          ? reply(handleReply(site, task))
          : endAtLimit(site, task);
      case 'asked':
        return asked(site);
    }
  };
  const asked = async (site: CallSite): Promise<Step> => {
    if (!plan.asksInRounds) return reply(handleReply(site, task));
    const questions = await questionsFor(site, task);
    return questions.length > 0 ? { kind: 'ask', questions } : waitOn(site, false);
  };
  return {
    async next(request) {
      const site = { ...request, tool, arguments: args };
      const stop = relayTask(site, heard);
      try {
        const open = plan.asksInRounds && round > 0 ? await questionsFor(site, task) : [];
        return open.length > 0 ? { kind: 'ask', questions: open } : await waitOn(site, true);
      } finally {
        stop();
      }
    },
    async answer(site, responses) {
      const live = await questionsFor(site, task);
      assertWellFormed(
        responses,
        live.map(({ key }) => key),
      );
      const answered = await face.receiver.answer(site.principal, task.id, responses.answers);
      if (answered.kind === 'missing') throw noSuchTask();
      if (answered.kind === 'malformed') throw malformedAnswer(answered.key, answered.problem);
      round += 1;
    },
    drop: () => face.handles.abandon(task.id, { stopUpstream: true }),
  };
}
