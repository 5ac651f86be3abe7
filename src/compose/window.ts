import type { Readable, Writable } from 'node:stream';
import { readEngineRecord } from '../background/engine-record.ts';
import { runFront, type FrontEnd, type FrontOptions } from '../background/front.ts';
import { reachEngine, type ReachedEngine, type ReachOptions } from '../background/reach-engine.ts';
import { engineLostLine } from '../faces/mcp/stdio/engine-lost.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import type { Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import type { Random } from '../kernel/random.ts';
import { settingsBody } from './engine-settings.ts';
import { PRODUCT } from './product.ts';
import { createProject, projectBody } from './project.ts';
import { startEngine } from './start-engine.ts';

export interface WindowOptions {
  readonly config: GatewayConfig;
  /** The folder that the window is about. */
  readonly folder: string;
  /** What an engine is started with, where none runs. */
  readonly engineArgs: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The host's streams. */
  readonly input: Readable;
  readonly output: Writable;
  readonly clock: Clock;
  readonly random: Random;
}

/** A front of the background engine, which serves. */
export interface OpenWindow {
  readonly enginePid: number;
  readonly engineRole: string;
  /** Sections of the configuration in which the running engine was started with something else. */
  readonly differing: readonly string[];
  /** Resolves when the host has left and everything owed was written, or when the engine has gone. */
  readonly ended: Promise<FrontEnd>;
}

/** Connects a host's streams to the engine of the data directory, which is started where none runs. */
export async function openWindow(options: WindowOptions): Promise<OpenWindow> {
  const { input, output } = options;
  const reach = createReach(options);
  const first = await reach();
  const { differing } = first.body;
  return {
    enginePid: first.record.pid,
    engineRole: first.record.role,
    differing: Array.isArray(differing) ? differing.map(String) : [],
    ended: runFront({
      input,
      output,
      engine: first.socket,
      answerLost: engineLostLine,
      reconnect: createReconnect(options, reach),
    }),
  };
}

type Reach = (how?: Pick<ReachOptions, 'start' | 'withinMs'>) => Promise<ReachedEngine>;

function createReach(options: WindowOptions): Reach {
  const { config, folder, engineArgs: args, cwd, env, clock, random } = options;
  const { data } = config;
  const project = createProject(folder, config.upstreams);
  const seeker = { data, version: PRODUCT.version, clock, random };
  const body = { ...projectBody(project), ...settingsBody(config) };
  const start = (): Promise<void> => startEngine({ data, args, cwd, env, clock });
  return (how = { start }) => reachEngine({ ...seeker, body, ...how });
}

/** An engine that died sooner than this after it was found again is not looked for once more; restarts may be as many. */
const LIVED_MS_MIN = 10_000;
/** After an end in order: how long another one may take to be there. */
const SUCCESSOR_MS = 15_000;

/**
 * The next engine after a death is started by whoever misses it first. After an end in order one is only waited for:
 * what a person has stopped is not started again behind their back.
 */
function createReconnect(options: WindowOptions, reach: Reach): FrontOptions['reconnect'] {
  const { config, clock } = options;
  let lastTry: number | undefined;
  return async () => {
    const hasDied = readEngineRecord(config.data) !== undefined;
    const now = clock.monotonic();
    if (hasDied && lastTry !== undefined && now - lastTry < LIVED_MS_MIN) return undefined;
    lastTry = now;
    const waitOnly = { start: () => Promise.resolve(), withinMs: SUCCESSOR_MS };
    try {
      return (await (hasDied ? reach() : reach(waitOnly))).socket;
    } catch (thrown) {
      if (thrown instanceof LongcallError) return undefined;
      throw thrown;
    }
  };
}
