import { describe, expect, test } from 'vitest';
import { anonymousPrincipal, localPrincipal } from '../../identity/principal.ts';
import { createManualClock } from '../../kernel/manual-clock.ts';
import { createPatience } from './patience.ts';

const LOCAL = localPrincipal();

describe('what callers are kept waiting', () => {
  test('is what is wanted as long as nobody gives up', () => {
    expect(createPatience(createManualClock()).within(LOCAL, 15_000)).toBe(15_000);
  });

  test('is less than what they gave up after', () => {
    const patience = createPatience(createManualClock());
    patience.gaveUp(LOCAL, 10_000);
    expect(patience.within(LOCAL, 15_000)).toBe(6_000);
    expect(patience.within(LOCAL, 1_000)).toBe(1_000);
  });

  test('is not cut short by one early stop: people press buttons', () => {
    const patience = createPatience(createManualClock());
    patience.gaveUp(LOCAL, 1_000);
    expect(patience.within(LOCAL, 15_000)).toBe(15_000);
    patience.gaveUp(LOCAL, 1_100);
    expect(patience.within(LOCAL, 15_000)).toBe(660);
  });

  test('an early stop unteaches no deadline', () => {
    const patience = createPatience(createManualClock());
    patience.gaveUp(LOCAL, 10_000);
    patience.gaveUp(LOCAL, 50);
    expect(patience.within(LOCAL, 15_000)).toBe(6_000);
  });

  test('is never so short that every call becomes a job', () => {
    const patience = createPatience(createManualClock());
    patience.gaveUp(LOCAL, 100);
    patience.gaveUp(LOCAL, 100);
    expect(patience.within(LOCAL, 15_000)).toBe(300);
  });

  test('is forgotten after a while', () => {
    const clock = createManualClock();
    const patience = createPatience(clock);
    patience.gaveUp(LOCAL, 10_000);
    clock.advance(10 * 60_000);
    expect(patience.within(LOCAL, 15_000)).toBe(15_000);
  });

  test('is taught by nobody who cannot be told from others', () => {
    const patience = createPatience(createManualClock());
    const anyone = anonymousPrincipal();
    patience.gaveUp(anyone, 10_000);
    expect(patience.within(anyone, 15_000)).toBe(15_000);
  });
});
