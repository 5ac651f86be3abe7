import { once } from 'node:events';
import { launchHttp, upstreamCommand } from '../fixtures/upstreams/launch.ts';
import type { HttpUpstream, Upstream } from '../fixtures/upstreams/launch.ts';
import { openRelay } from './relay.ts';

/** An upstream over HTTP that can die and come back at the same address, having forgotten everything. */
export interface MortalUpstream {
  readonly url: string;
  /** SIGKILL. Its connections end, and its address takes no new ones. */
  kill(): Promise<void>;
  /** From here on what is sent to it is read by nobody: also where it is dead, while its address takes connections. */
  deafen(): Promise<void>;
  /** What was sent to it since then. */
  unread(): string;
  revive(): Promise<void>;
}

/** Starts one of the fixtures; its effects go to the log. */
export async function startMortalUpstream(
  name: Upstream,
  effectsLog: string,
  env: Readonly<Record<string, string>> = {},
): Promise<MortalUpstream> {
  const launch = (): Promise<HttpUpstream> =>
    launchHttp(upstreamCommand(name, '--http', '0'), { EFFECTS_LOG: effectsLog, ...env });
  let current = await launch();
  const relay = await openRelay(() => Number(new URL(current.url).port));
  let isAlive = true;
  return {
    url: `http://127.0.0.1:${relay.port}/mcp`,
    async deafen() {
      if (!isAlive) await relay.open();
      relay.holdUp();
    },
    unread: relay.heldUp,
    async kill() {
      if (isAlive) {
        isAlive = false;
        const gone = once(current.process, 'exit');
        current.process.kill('SIGKILL');
        await gone;
      }
      await relay.close();
    },
    async revive() {
      if (isAlive) return;
      current = await launch();
      await relay.open();
      isAlive = true;
    },
  };
}
