import { isJobHelper, type JobHelper } from '../../../runtime/job-tools.ts';
import type { RefusalReason } from '../../../runtime/modes.ts';
import type { ServedTool } from '../../../runtime/tool.ts';
import { askableAsJob, createCallExchange } from '../../job-tools/call-exchange.ts';
import { help } from '../../job-tools/job-helpers.ts';
import { readCall, start, startHeard, type CallSite } from '../call/call-site.ts';
import type { RequestSite } from '../call/request-site.ts';
import { routeOf } from '../call/route.ts';
import { relayJob, relayTask } from '../call/relay.ts';
import { markRepeat, type StartedCall } from '../call/repeated.ts';
import type { Face } from '../face.ts';
import { extensionRequired, invalidParams, noTaskSupport, refusedByPolicy } from '../failures.ts';
import type { Reply } from '../reply.ts';
import type { HeldCall } from './held-call.ts';
import { createHeldForward } from './held-forward.ts';
import { createHeldJob } from './held-job.ts';
import { createHeldTask, handleReply, plainReply, type HoldPlan } from './held-task.ts';
import { siteOf, type ModernMethod } from './request.ts';
import type { Rounds } from './rounds.ts';

/** How long a tool that asks first may take to ask, before its handle leaves without a round. */
const FIRST_ROUND_MS = 10_000;

function refusalOf(tool: ServedTool, reason: RefusalReason): Error {
  if (reason === 'task_required') return extensionRequired(`tool ${tool.name}`);
  return reason === 'no_task_support' ? noTaskSupport(tool) : refusedByPolicy(tool);
}

const boundedPlan = ({ plainLimitMs }: ServedTool): HoldPlan => ({
  waitMs: () => plainLimitMs,
  asksInRounds: true,
  afterwards: 'limit',
});

/**
 * The window, then the handle. A question inside the window promotes to the handle, except for tools that finish their
 * rounds first (G2-30): those get time to ask, and only after the last answer the handle follows.
 */
function handlePlan({ roundsFirst = false, syncWindowMs }: ServedTool, windowMs: number): HoldPlan {
  const firstMs = roundsFirst ? Math.max(syncWindowMs, FIRST_ROUND_MS) : windowMs;
  return {
    waitMs: (round) => (round === 0 ? firstMs : windowMs),
    asksInRounds: roundsFirst,
    afterwards: 'handle',
  };
}

const canTakeRounds = ({ tool, asks }: CallSite): boolean =>
  tool.roundsFirst === true && asks.length > 0;

/** A tool cannot finish its rounds first with a caller that cannot be asked. */
const forCaller = (call: CallSite): ServedTool =>
  canTakeRounds(call) ? call.tool : { ...call.tool, roundsFirst: false };

/** `task` is a field of another revision and says nothing here (G2-09). */
function withoutTask(site: RequestSite): RequestSite {
  const { task: _, ...params } = site.params;
  return { ...site, params };
}

/** An upstream's own state goes back to it; where no upstream was asked directly, nobody can have given one. */
function assertNoForeignState({ params }: RequestSite): void {
  if (params['requestState'] !== undefined)
    throw invalidParams('requestState was not given by this tool');
}

async function createJob(call: CallSite, rounds: Rounds): Promise<Reply | undefined> {
  const heard = await startHeard(askableAsJob(call), 'job');
  const held = createHeldJob(createCallExchange(call, heard), (site) => relayTask(site, heard));
  return rounds.run(call, 'tools/call', markRepeats(held, heard));
}

async function callHelper(
  site: RequestSite,
  rounds: Rounds,
  helper: JobHelper,
): Promise<Reply | undefined> {
  assertNoForeignState(site);
  const helped = await help(site, helper);
  if (helped.kind === 'reply') return helped.reply;
  const { exchange } = helped;
  // Before its progress and its questions go anywhere: is it theirs?
  if (!(await site.face.receiver.view(site.principal, exchange.jobId, false)))
    return exchange.gone();
  const held = createHeldJob(exchange, (request) => relayJob(request, exchange.jobId));
  return rounds.run(site, 'tools/call', held);
}

/** The handle, or what the call that this one repeats has come to already. */
async function replyAtOnce(call: CallSite, started: StartedCall): Promise<Reply> {
  const { task } = started;
  const reply = task.phase === 'ended' ? await plainReply(call, task) : handleReply(call, task);
  return markRepeat(reply, started);
}

/** A held call whose answer says that it is a repeat's, in whatever round that comes. */
const markRepeats = (held: HeldCall, started: StartedCall): HeldCall => ({
  ...held,
  async next(site) {
    const step = await held.next(site);
    return step.kind === 'reply' ? { ...step, reply: markRepeat(step.reply, started) } : step;
  },
});

export function createToolCall(face: Face, rounds: Rounds): ModernMethod {
  const method = 'tools/call';
  return async (request) => {
    const site = withoutTask(siteOf(face, request));
    const { requestState } = site.params;
    if (rounds.isOurs(requestState)) return rounds.resume(site, method, requestState);
    const { name } = site.params;
    if (face.jobTools !== 'off' && isJobHelper(name)) return callHelper(site, rounds, name);
    const call = { ...site, ...readCall(site) };
    const decision = routeOf(call, request.envelope.tasks ? '2026-tasks' : '2026-plain');
    if (decision.kind === 'refuse') throw refusalOf(call.tool, decision.reason);
    if (decision.kind === 'forward')
      return rounds.run(site, method, createHeldForward(site, method));
    assertNoForeignState(site);
    if (decision.kind === 'bounded') {
      const heard = await startHeard(call, 'plain');
      const held = createHeldTask(call, heard, boundedPlan(call.tool));
      return rounds.run(site, method, markRepeats(held, heard));
    }
    if (decision.kind === 'job') return createJob(call, rounds);
    const windowMs = decision.kind === 'window' ? call.tool.syncWindowMs : 0;
    const plan = handlePlan(forCaller(call), windowMs);
    if (plan.waitMs(0) <= 0) return replyAtOnce(call, await start(call, '2026-07-28'));
    const heard = await startHeard(call, '2026-07-28');
    return rounds.run(site, method, markRepeats(createHeldTask(call, heard, plan), heard));
  };
}
