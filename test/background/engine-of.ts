import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { askIfThere, type EngineSeeker } from '../../src/background/reach-engine.ts';
import { readEngineRecord, type EngineRecord } from '../../src/background/engine-record.ts';
import { PRODUCT } from '../../src/compose/product.ts';
import { inspectLock } from '../../src/compose/inspect-data.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { until, untilTrue } from '../crash/until.ts';

/** Who asks for the engine of a data directory; `version` pretends to be another one. */
export const seeker = (data: string, version: string = PRODUCT.version): EngineSeeker => ({
  data,
  version,
  clock: systemClock,
  random: systemRandom,
});

/** What the running engine says of itself. */
export async function statusOf(data: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await askIfThere(seeker(data), { purpose: 'status', body: {} });
  if (answer.kind !== 'yes') throw new Error(`no engine answers on ${data}`);
  answer.socket.destroy();
  return answer.body;
}

/** The engine that is up, once one is. */
export const engineOf = (data: string): Promise<EngineRecord> =>
  until(() => readEngineRecord(data), 'an engine');

/** SIGKILL: nothing is flushed, nobody is told. Resolves when the lock has fallen. */
export async function killEngine(data: string): Promise<void> {
  process.kill((await engineOf(data)).pid, 'SIGKILL');
  await isFree(data);
}

export const isFree = (data: string): Promise<true> =>
  untilTrue(() => !inspectLock(data).held, 'the data directory to be free');

/** Ends the engine of a data directory, if one runs there, and waits until it is gone. */
export async function endEngine(data: string): Promise<void> {
  const answer = await askIfThere(seeker(data), { purpose: 'stop', body: { graceMs: 0 } });
  if (answer.kind === 'yes') answer.socket.destroy();
  await isFree(data);
}

/** The same for every data directory below a folder. */
export async function endEnginesIn(folder: string): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const homes = names.filter((name) => name.endsWith('engine-secret'));
  await Promise.all(homes.map((name) => endEngine(join(folder, name, '..'))));
}
