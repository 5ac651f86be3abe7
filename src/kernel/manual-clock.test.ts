import { describe, expect, it } from 'vitest';
import { createManualClock } from './manual-clock.ts';

describe('the manual clock', () => {
  it('fires timers in order of due time, and of arming where they are due together', () => {
    const clock = createManualClock();
    const fired: string[] = [];
    clock.after(20, () => fired.push('second'));
    clock.after(10, () => fired.push('first'));
    clock.after(20, () => fired.push('third'));
    clock.after(31, () => fired.push('never'));
    clock.advance(30);
    expect(fired).toEqual(['first', 'second', 'third']);
    expect(clock.armed()).toBe(1);
  });

  it('fires a timer that a timer armed, at its own time', () => {
    const clock = createManualClock();
    const seen: number[] = [];
    clock.after(10, () => clock.after(10, () => seen.push(clock.monotonic())));
    clock.advance(100);
    expect(seen).toEqual([20]);
    expect(clock.monotonic()).toBe(100);
  });

  it('never fires a timer that was called off', () => {
    const clock = createManualClock();
    let fired = false;
    const timer = clock.after(5, () => (fired = true));
    timer.cancel();
    clock.advance(10);
    expect(fired).toBe(false);
  });

  it('jumps its wall time without touching the monotonic one', () => {
    const clock = createManualClock(1000);
    clock.advance(5);
    clock.jump(-500);
    expect([clock.now(), clock.monotonic()]).toEqual([505, 5]);
  });
});
