import fc from 'fast-check';

/** What a random handler does. Names are given when it is played, by the place in the program. */
export type Program =
  | { readonly kind: 'step'; readonly fails: boolean }
  | { readonly kind: 'sleep'; readonly ms: number }
  /** Plain code that needs a few turns of the microtask queue. */
  | { readonly kind: 'think'; readonly turns: number }
  | { readonly kind: 'sequence' | 'all' | 'race' | 'settled'; readonly parts: readonly Program[] };

const leaf: fc.Arbitrary<Program> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('step' as const), fails: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('sleep' as const), ms: fc.nat(1_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('think' as const), turns: fc.nat(6) }),
  },
);

const grown = fc.letrec<{ part: Program }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.record({
      kind: fc.constantFrom(
        'sequence' as const,
        'all' as const,
        'race' as const,
        'settled' as const,
      ),
      parts: fc.array(tie('part'), { minLength: 1, maxLength: 5, size: 'max' }),
    }),
  ),
}));

export const anyProgram: fc.Arbitrary<Program> = fc.record({
  kind: fc.constant('sequence' as const),
  parts: fc.array(grown.part, { minLength: 1, maxLength: 4 }),
});

/** What a program does its work with. */
export interface Hands {
  step(name: string, fails: boolean): Promise<unknown>;
  sleep(name: string, ms: number): Promise<unknown>;
  /** Notes what the handler has seen, in the order in which it saw it. */
  see(what: string): void;
}

/** Plays a program the way a handler is written: with await, Promise.all, race and allSettled, and a catch around it. */
export async function play(program: Program, hands: Hands, place = 'p'): Promise<string> {
  switch (program.kind) {
    case 'think':
      for (let turn = 0; turn < program.turns; turn += 1) await Promise.resolve();
      return 'thought';
    case 'step':
      return seen(hands, place, hands.step(place, program.fails));
    case 'sleep':
      return seen(hands, place, hands.sleep(place, program.ms));
    case 'sequence': {
      const said: string[] = [];
      for (const [at, part] of program.parts.entries())
        said.push(await play(part, hands, `${place}.${at}`));
      return said.join(',');
    }
    case 'all':
    case 'race':
    case 'settled':
      return together(program.kind, partsOf(program.parts, hands, place), hands);
  }
}

const partsOf = (parts: readonly Program[], hands: Hands, place: string): Promise<string>[] =>
  parts.map((part, at) => play(part, hands, `${place}.${at}`));

async function together(
  kind: 'all' | 'race' | 'settled',
  parts: Promise<string>[],
  hands: Hands,
): Promise<string> {
  try {
    if (kind === 'settled') return JSON.stringify(await Promise.allSettled(parts).then(words));
    return kind === 'all' ? (await Promise.all(parts)).join('&') : await Promise.race(parts);
  } catch (thrown) {
    hands.see(`caught ${String(thrown)}`);
    return 'caught';
  }
}

const words = (ends: readonly PromiseSettledResult<string>[]): readonly string[] =>
  ends.map((end) => (end.status === 'fulfilled' ? end.value : 'failed'));

async function seen(hands: Hands, place: string, outcome: Promise<unknown>): Promise<string> {
  try {
    const value = String(await outcome);
    hands.see(`${place}=${value}`);
    return value;
  } catch (thrown) {
    hands.see(`${place}!${String(thrown)}`);
    throw thrown;
  }
}
