import { expect } from 'vitest';
import { untilTrue as waitUntil } from '../crash/until.ts';
import { PATIENCE_MS } from './command.ts';
import type { Operation } from './operations.ts';
import type { Place } from './place.ts';
import { ANSWER } from './real-client.ts';
import type { RealClient } from './real-client.ts';

/**
 * ext-tasks declines a question of a task that it has not taken note of yet, and on a pipe the handle and the first
 * question may come in one read: the tool gives it a moment.
 */
const ASK_AFTER_MS = 250;

/** What a cell is shown with. */
export interface CellSite {
  readonly client: RealClient;
  readonly place: Place;
  /** Names the cell's lines in the effects log. */
  readonly tag: string;
  /** Leaves and comes back as another process or session of the same caller. */
  reconnect(): Promise<RealClient>;
}

/** A member that the table promises. */
function can<K extends keyof RealClient>(
  client: RealClient,
  ability: K,
): NonNullable<RealClient[K]> {
  const found = client[ability];
  if (found === undefined) throw new Error(`the client cannot do this: ${ability}`);
  return found;
}

const untilTrue = (holds: () => Promise<boolean> | boolean, what: string): Promise<true> =>
  waitUntil(holds, what, PATIENCE_MS);

const eventsOf = ({ place, tag }: CellSite): readonly string[] =>
  place.effects.lines(tag).map(({ event }) => event);

/** What is demanded of every client alike. */
export const COLUMNS: Readonly<Record<Operation, (site: CellSite) => Promise<void>>> = {
  async connect({ client }) {
    expect(await client.serverName()).toBe('effects-fixture');
  },

  async list({ client }) {
    const names = await client.toolNames();
    expect(names).toEqual(expect.arrayContaining(['append', 'slow', 'ask', 'structured']));
  },

  async 'plain call'({ client, tag }) {
    expect(JSON.parse(await client.call('structured', { tag }))).toEqual({
      tag,
      length: tag.length,
    });
  },

  async task(site) {
    const { client, place, tag } = site;
    expect(await can(client, 'callAsTask')('append', { tag, ms: 100 })).toBe(`appended ${tag}`);
    expect(eventsOf(site)).toEqual(['start', 'finish']);
    const appended = (await place.tasks()).filter(({ tool }) => tool === 'append');
    expect(appended).toEqual([expect.objectContaining({ handle: 'given' })]);
  },

  async poll({ client, place, tag }) {
    const taskId = await can(client, 'begin')('slow', { tag, ms: 600_000 });
    const status = can(client, 'status');
    expect(await status(taskId)).toBe('working');
    await place.stop(taskId);
    await untilTrue(async () => (await status(taskId)) === 'cancelled', 'the end of the task');
  },

  async result({ client, tag }) {
    const taskId = await can(client, 'begin')('append', { tag, ms: 200 });
    expect(await can(client, 'result')(taskId)).toBe(`appended ${tag}`);
  },

  async input(site) {
    const { client, tag } = site;
    const said: unknown = JSON.parse(
      await can(client, 'callAndAnswer')('ask', { tag, ms: ASK_AFTER_MS }),
    );
    expect(said).toEqual([{ action: 'accept', content: { answer: ANSWER } }]);
    expect(eventsOf(site)).toEqual(['start', 'answered']);
  },

  async cancel(site) {
    const { client, place, tag } = site;
    const taskId = await can(client, 'begin')('slow', { tag, ms: 60_000 });
    await untilTrue(() => eventsOf(site).includes('tick'), 'the work to begin');
    await can(client, 'cancel')(taskId);
    await untilTrue(() => eventsOf(site).at(-1) === 'cancelled', 'the work to stop');
    await untilTrue(async () => {
      const task = (await place.tasks()).find(({ id }) => id === taskId);
      return task?.protocol.ending === 'cancelled';
    }, 'the record to say so');
  },

  async progress({ client, tag }) {
    const reported = await can(client, 'progressOf')('progress', { tag, steps: 3 });
    // A client may drop the last step when it comes in the same read as the answer, whose arrival ends its listening.
    expect([1, 2, 3].slice(0, Math.max(2, reported.length))).toEqual(reported);
  },

  async reconnect(site) {
    const { client, tag } = site;
    const taskId = await can(client, 'begin')('slow', { tag, ms: 500 });
    const successor = await site.reconnect();
    expect(await can(successor, 'result')(taskId)).toBe(`slow ${tag} is done`);
  },
};
