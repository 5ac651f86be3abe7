import { expect } from 'vitest';
import { POINT_OF } from './crash-rows.ts';
import type { CrashRow, Moment } from './crash-rows.ts';
import { connectFront } from './front.ts';
import type { Front, FrontCall } from './front.ts';
import type { CrashAt, GatewayProcess } from './gateway-process.ts';
import { frontName, judge } from './judge.ts';
import type { CrashCase, Played } from './judge.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import type { Site } from './site.ts';
import { until, untilTrue } from './until.ts';

/** Where deaths are played. `upstream` is there where it is to die with the gateway. */
export interface Stage {
  readonly site: Site;
  readonly upstream?: MortalUpstream;
}

/** The cases of one moment that one death brings about together. */
export interface Bundle {
  readonly moment: Moment;
  readonly cases: readonly CrashCase[];
}

/** What the tools of the moments do, and with what. */
const TOOLS: Readonly<Record<Moment, { readonly tool: string; readonly ms: number }>> = {
  'before-commit': { tool: 'append', ms: 50 },
  'after-commit': { tool: 'append', ms: 50 },
  'before-first-upstream-byte': { tool: 'append', ms: 50 },
  'mid-call': { tool: 'slow_once', ms: 20_000 },
  'input-required': { tool: 'ask', ms: 0 },
  'after-cancel-request': { tool: 'slow', ms: 20_000 },
  'after-upstream-answer': { tool: 'append', ms: 50 },
  'after-settlement': { tool: 'append', ms: 50 },
};

const casesOf = (rows: readonly CrashRow[]): readonly CrashCase[] =>
  rows.flatMap(({ callers, ...row }) => callers.map((caller) => ({ ...row, caller })));

/** A moment that the gateway hits by itself holds one call; a kill from outside hits all that are under way. */
export function bundlesOf(rows: readonly CrashRow[], moment: Moment): readonly Bundle[] {
  const cases = casesOf(rows.filter((row) => row.moment === moment));
  const isAlone = POINT_OF[moment] !== undefined && cases.some(({ dies }) => dies !== 'upstream');
  return isAlone ? cases.map((one) => ({ moment, cases: [one] })) : [{ moment, cases }];
}

export const titleOf = ({ cases: [first, ...more] }: Bundle): string =>
  more.length === 0 ? `${first?.effect} by ${first?.caller}` : `${more.length + 1} calls at once`;

/**
 * Deaths of gateways, one after the other on one data directory: the start that recovers from a death, and is judged, is
 * also the one that dies next.
 */
export interface Chain {
  play(bundle: Bundle): Promise<void>;
}

export function createChain({ site, upstream }: Stage): Chain {
  let next: GatewayProcess | undefined;
  let round = 0;
  return {
    async play(bundle) {
      const gateway = next ?? (await site.start(crashAt(bundle.moment, 1)));
      next = undefined;
      round += 1;
      const played = await bringAbout(site, bundle, { gateway, round });
      if (upstream) {
        await upstream.kill();
        await upstream.revive();
      }
      const heir = await site.start(crashAt(bundle.moment, 1 + passesOfRecovery(bundle)));
      await judgeAll(site, await connectFront(heir.url), played);
      next = heir;
    },
  };
}

function crashAt(moment: Moment, nth: number): CrashAt | undefined {
  const point = POINT_OF[moment];
  return point === undefined ? undefined : { point, nth };
}

/** What the recovery does again passes the point as well, and is to survive it: the next death comes after. */
function passesOfRecovery({ moment, cases: [only] }: Bundle): number {
  const passesAgain = moment === 'before-first-upstream-byte' || moment === 'after-upstream-answer';
  return passesAgain && only?.ends === 'result' ? 1 : 0;
}

/** Every record has ended: also those that no row is about. */
export async function judgeAll(site: Site, front: Front, played: readonly Played[]): Promise<void> {
  await Promise.all(played.map((one) => judge(site, front, one)));
  const open = (await site.admin().tasks()).filter(({ protocol }) => protocol.phase !== 'ended');
  expect(open).toEqual([]);
}

interface Round {
  readonly gateway: GatewayProcess;
  readonly round: number;
}

/** Makes the calls of a bundle and resolves when the gateway is dead. */
async function bringAbout(
  site: Site,
  bundle: Bundle,
  { gateway, round }: Round,
): Promise<readonly Played[]> {
  const front = await connectFront(gateway.url);
  const played = await startCalls(site, front, { bundle, round });
  if (bundle.moment === 'after-cancel-request') await cancelInTheMiddle(site, front, played);
  if (POINT_OF[bundle.moment] === undefined) {
    await reach(site, front, { moment: bundle.moment, played });
    await gateway.kill();
  }
  expect(await gateway.exited).toMatchObject({ signal: 'SIGKILL' });
  return played;
}

let calls = 0;

/** Makes one call for each case. */
export async function startCalls(
  site: Site,
  front: Front,
  { bundle, round }: { readonly bundle: Bundle; readonly round: number },
): Promise<readonly Played[]> {
  const before = new Set((await site.admin().tasks()).map(({ id }) => id));
  const { tool, ms } = TOOLS[bundle.moment];
  return bundle.cases.map((row) => {
    calls += 1;
    const tag = `${row.dies}-${row.moment}-${row.effect}-${row.caller}-${round}-${calls}`;
    return { row, before, call: front.call(row.caller, frontName(row, tool), { tag, ms }) };
  });
}

/** Resolves when every call is where the moment wants it. */
export async function reach(
  { effects }: Site,
  front: Front,
  { moment, played }: { readonly moment: Moment; readonly played: readonly Played[] },
): Promise<void> {
  const isAt = moment === 'input-required' ? hasAsked : hasStarted;
  await Promise.all(played.map(({ call }) => isAt(front, call)));

  async function hasStarted(_: Front, { tag }: FrontCall): Promise<void> {
    await untilTrue(
      () => effects.lines(tag).some(({ event }) => event === 'tick'),
      `work on ${tag}`,
    );
  }
}

async function hasAsked(front: Front, call: FrontCall): Promise<void> {
  if (call.kind === '2025-plain') return void (await call.question());
  const answer = await call.answer;
  if (answer.kind !== 'handle') return;
  await until(async () => {
    const { status } = await front.view(call.kind, answer.taskId);
    return status === 'input_required' ? status : undefined;
  }, `a question of ${call.tag}`);
}

async function cancelInTheMiddle(
  site: Site,
  front: Front,
  played: readonly Played[],
): Promise<void> {
  await reach(site, front, { moment: 'mid-call', played });
  await Promise.all(
    played.map(async ({ call }) => {
      const answer = await call.answer;
      if (answer.kind !== 'handle')
        throw new Error(`${call.tag} got no handle: ${JSON.stringify(answer)}`);
      const heard = await front.cancel(call.kind, answer.taskId);
      expect(heard, 'an answer to the cancel').toBe(false);
    }),
  );
}
