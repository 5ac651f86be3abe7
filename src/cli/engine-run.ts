import { chdir } from 'node:process';
import type { Command } from 'commander';
import { loadConfig } from '../gateway/config/load.ts';
import { holdOpen } from './hold-open.ts';
import type { CliIo } from './io.ts';
import { listenForStop } from './stop-request.ts';

/** How long running calls have to end after a signal; what does not is left to the next engine. */
const DRAIN_MS = 10_000;

/** Windows bring their upstreams: the configuration's own are not looked at, and one stands for there being any. */
const NO_UPSTREAMS = ['brought-by-windows'];

interface RunFlags {
  readonly config?: string;
  readonly data?: string;
  readonly admin?: string;
  readonly iAcceptAnonymousNetwork?: boolean;
}

/** `longcall engine run`: what a front starts. Not meant to be typed, so it stands in no help. */
export function addEngineRun(engine: Command, io: CliIo): void {
  engine
    .command('run', { hidden: true })
    .description('be the background engine, until it is told to stop or has nothing to do')
    .option('--config <file>', 'configuration file')
    .option('--data <directory>', 'data directory')
    .option('--admin <host:port>', "where the operators' API is served")
    .option('--i-accept-anonymous-network', 'as of the gateway')
    .action(async (flags: RunFlags) => runEngine(flags, io));
}

async function runEngine(flags: RunFlags, io: CliIo): Promise<void> {
  const stop = listenForStop(io, () => undefined);
  const { iAcceptAnonymousNetwork, ...named } = flags;
  const loaded = loadConfig({
    cwd: io.cwd,
    env: io.env,
    flags: {
      ...named,
      upstreams: NO_UPSTREAMS,
      acceptAnonymousNetwork: iAcceptAnonymousNetwork === true,
    },
  });
  const { createGatewayApp } = await import('../compose.ts');
  const release = holdOpen();
  try {
    const app = await createGatewayApp(loaded, { clock: io.clock, engine: true });
    chdir(loaded.config.data); // the folder of whatever window came first may be removed
    await Promise.race([stop.asked, app.closed]);
    await app.stop(app.graceMs() ?? DRAIN_MS);
  } finally {
    stop.release();
    release();
  }
}
