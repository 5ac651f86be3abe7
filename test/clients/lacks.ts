import { expect } from 'vitest';
import type { EmptyCell } from './real-client.ts';

let checks = 0;
const nextTag = (): string => `lacks-${(checks += 1)}`;

/** A client that declares no elicitation: the gateway refuses the question for it, and the tool gets to know. */
export const asksNobody = (reason: string): EmptyCell => ({
  reason,
  async holds(client, { effects }) {
    const tag = nextTag();
    await client.call('ask', { tag });
    const answers = effects.lines(tag).filter(({ event }) => event === 'answered');
    expect(answers).toEqual([
      expect.objectContaining({ detail: { refused: expect.stringContaining('elicitation') } }),
    ]);
  },
});

/** A client whose calls never become tasks, although the tool would take one. */
export const callsPlainly = (reason: string): EmptyCell => ({
  reason,
  async holds(client, place) {
    await client.call('append', { tag: nextTag() });
    const [newest] = await place.tasks();
    expect(newest).toMatchObject({ tool: 'append', handle: 'inline' });
  },
});
