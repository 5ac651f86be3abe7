import type { Moment } from './crash-rows.ts';
import { canHoldHandle, connectFront, FRONT_KINDS } from './front.ts';
import type { Answer, Front, FrontKind } from './front.ts';
import { frontName } from './judge.ts';
import type { Played } from './judge.ts';
import type { MortalUpstream } from './mortal-upstream.ts';
import { judgeAll, reach, startCalls } from './play.ts';
import type { Bundle } from './play.ts';
import type { Site } from './site.ts';
import { untilTrue } from './until.ts';

/** What an upstream's death needs: HTTP where it is to be deaf or away, a child of the gateway where not. */
export interface UpstreamStage {
  readonly site: Site;
  /** Absent where the gateway starts its upstream itself. */
  readonly upstream?: MortalUpstream;
}

interface Round {
  readonly site: Site;
  readonly upstream: MortalUpstream | undefined;
  readonly front: Front;
  start(): Promise<readonly Played[]>;
}

/** Lets the upstream die so many times under one gateway, which lives on. */
export async function playDeathsOfUpstream(
  stage: UpstreamStage,
  bundle: Bundle,
  times: number,
): Promise<void> {
  const { site, upstream } = stage;
  const gateway = await site.start();
  const front = await connectFront(gateway.url);
  for (let round = 1; round <= times; round += 1) {
    const start = (): Promise<readonly Played[]> => startCalls(site, front, { bundle, round });
    const played = await DEATHS[bundle.moment]({ site, upstream, front, start });
    await judgeAll(site, front, played);
    await upstream?.revive();
  }
}

/** How an upstream comes to die at each moment. Those that the gateway starts again are killed by their number. */
const DEATHS: Readonly<Record<Moment, (round: Round) => Promise<readonly Played[]>>> = {
  async 'before-commit'({ site, upstream, start }) {
    await killAndNotice(site, upstream);
    return start();
  },
  // It takes the connection and dies before the greeting: the gateway gets no further than that.
  async 'after-commit'({ site, upstream, start }) {
    await killAndNotice(site, upstream);
    await upstream?.deafen();
    const played = await start();
    const holders = played.filter(({ call }) => canHoldHandle(call.kind));
    await Promise.all(holders.map(({ call }) => call.answer));
    await upstream?.kill();
    return played;
  },
  // Deaf with all connections open: the calls themselves are written, and never read.
  async 'before-first-upstream-byte'({ upstream, front, start }) {
    await warmUp(front);
    await upstream?.deafen();
    const played = await start();
    await untilTrue(
      () => played.every(({ call }) => upstream?.unread().includes(call.tag) ?? false),
      'all calls on their way to the upstream',
    );
    await upstream?.kill();
    return played;
  },
  async 'mid-call'({ site, front, start }) {
    const played = await start();
    await reach(site, front, { moment: 'mid-call', played });
    killProcessesOf(site, played);
    return played;
  },
  async 'input-required'({ site, front, start }) {
    const played = await start();
    await reach(site, front, { moment: 'input-required', played });
    killProcessesOf(site, played);
    return played;
  },
  async 'after-cancel-request'({ site, upstream, front, start }) {
    const played = await start();
    await reach(site, front, { moment: 'mid-call', played });
    await upstream?.deafen();
    for (const { call } of played) {
      const answer = await call.answer;
      if (answer.kind === 'handle') await front.cancel(call.kind, answer.taskId);
    }
    await upstream?.kill();
    return played;
  },
  'after-upstream-answer': async ({ start }) => start(), // it dies of its own answer
  async 'after-settlement'({ site, upstream, start }) {
    const played = await start();
    await untilTrue(
      async () => (await endedCount(site, played)) === played.length,
      'the end of all calls',
    );
    await upstream?.kill();
    return played;
  },
};

/** A connection whose end was not noticed yet would be tried: what was written to it cannot be known. */
async function killAndNotice(site: Site, upstream: MortalUpstream | undefined): Promise<void> {
  await upstream?.kill();
  await untilTrue(
    async () => (await site.admin().upstreams()).every(({ state }) => state !== 'up'),
    'the gateway to see that its upstream is gone',
  );
}

/** Has every caller open its connection to the upstream, all at the same time. */
async function warmUp(front: Front): Promise<void> {
  const round = crypto.randomUUID(); // a call that was made before would open no connection
  const calls = (['read', 'consequential'] as const).flatMap((effect) =>
    FRONT_KINDS.map((kind) =>
      front.call(kind, frontName({ effect }, 'slow'), {
        tag: `warm-${effect}-${kind}-${round}`,
        ms: 500,
      }),
    ),
  );
  await Promise.all(calls.map(({ kind, answer }) => endOfCall(front, kind, answer)));
}

async function endOfCall(front: Front, kind: FrontKind, answer: Promise<Answer>): Promise<void> {
  const answered = await answer;
  if (answered.kind !== 'handle') return;
  await untilTrue(
    async () => (await front.view(kind, answered.taskId)).status === 'completed',
    'the end of a call before',
  );
}

function killProcessesOf({ effects }: Site, played: readonly Played[]): void {
  const numbers = played.flatMap(({ call }) => effects.lines(call.tag).map(({ pid }) => pid));
  for (const pid of new Set(numbers)) process.kill(pid, 'SIGKILL');
}

async function endedCount(site: Site, [first]: readonly Played[]): Promise<number> {
  const tasks = await site.admin().tasks();
  return tasks.filter(
    ({ id, protocol }) => first?.before.has(id) === false && protocol.phase === 'ended',
  ).length;
}
