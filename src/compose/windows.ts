import { join } from 'node:path';
import type { FaceOptions } from '../faces/mcp/face.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import { createDeferred } from '../kernel/deferred.ts';
import { STORE_FILE, type DataHome } from './data-home.ts';
import { isBusy, readOpenWork, watchIdle } from './engine-life.ts';
import type { ReceivingSide } from './receiving-side.ts';
import type { Teardown } from './teardown.ts';
import type { UpstreamSets } from './upstream-sets.ts';
import { openWindowFront, type WindowFront } from './window-front.ts';

/** The end of a background engine, from whoever brings it about. */
export interface WindowLife {
  /** Resolves when it is to end. */
  readonly over: Promise<void>;
  /** How long running calls are to have then, where somebody has said so. */
  graceMs(): number | undefined;
  end(graceMs: number): void;
}

export function createWindowLife(): WindowLife {
  const over = createDeferred<void>();
  let grace: number | undefined;
  return {
    over: over.promise,
    graceMs: () => grace,
    end(graceMs) {
      grace = graceMs;
      over.resolve();
    },
  };
}

export interface WindowsOptions {
  readonly config: GatewayConfig;
  /** Whether this process is there for windows alone, and ends without them. */
  readonly asEngine: boolean;
  readonly home: DataHome;
  readonly sets: UpstreamSets;
  readonly receiving: ReceivingSide;
  readonly face: FaceOptions;
  readonly life: WindowLife;
  readonly teardown: Teardown;
}

/** Windows of hosts that speak stdio: what a background engine is for, and what a gateway over HTTP takes in, too. */
export async function openWindows(options: WindowsOptions): Promise<WindowFront> {
  const { config, asEngine, home, sets, receiving, face, life } = options;
  const { clock } = face;
  const startedAt = clock.monotonic();
  const work = () => readOpenWork(home.store, sets);
  const front = await openWindowFront({
    data: config.data,
    role: asEngine ? 'engine' : 'gateway',
    secret: home.engineSecret,
    face,
    sets,
    settings: config,
    onArrival: () => receiving.engine.wake(),
    isBusy: async () => isBusy(await work()),
    async status() {
      const { tasks, waiting } = await work();
      return {
        uptimeMs: Math.round(clock.monotonic() - startedAt),
        idleExitMs: asEngine ? config.engine.idleExitMs : null,
        openTasks: tasks,
        waitingTasks: waiting,
        projects: sets.facts().map((facts) => ({ ...facts })),
      };
    },
  });
  void front.stopAsked.then(life.end);
  watchNeed(options, front);
  return front;
}

/** Ends servers that no window and no task needs any more, and an engine that nobody needs at all. */
function watchNeed(options: WindowsOptions, front: WindowFront): void {
  const { config, asEngine, home, sets, face, life, teardown } = options;
  const { clock, logger } = face;
  const { idleExitMs: idleMs } = config.engine;
  const stop = watchIdle({
    clock,
    logger,
    idleMs,
    witness: join(config.data, STORE_FILE),
    async look() {
      const open = await readOpenWork(home.store, sets);
      sets.closeUnused((upstream) => open.upstreams.has(upstream), idleMs);
      return front.connectionCount() > 0 || isBusy(open) ? 'busy' : 'idle';
    },
    onIdle(why) {
      if (!asEngine) return;
      logger.info('engine.idle', { why });
      life.end(0);
    },
  });
  teardown.add('idle watch', stop);
}
