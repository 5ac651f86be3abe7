import { expect, test } from 'vitest';
import { createDeferred } from '../../kernel/deferred.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { localPrincipal, anonymousPrincipal } from '../../identity/principal.ts';
import type { Surface } from '../../runtime/surface.ts';
import { createResourceWatch } from './resource-watch.ts';

const ME = localPrincipal();

function scene(subscribe: () => Promise<void> = async () => undefined) {
  const calls: string[] = [];
  const surface = {
    subscribeResource(_who: unknown, uri: string) {
      calls.push(`+${uri}`);
      return subscribe();
    },
    async unsubscribeResource(_who: unknown, uri: string) {
      calls.push(`-${uri}`);
    },
  };
  return { calls, watch: createResourceWatch(surface as unknown as Surface, silentLogger) };
}

test('the first watcher subscribes, the last one ends it, each stop counts once', async () => {
  const { calls, watch } = scene();
  const [one, two] = await Promise.all([watch.watch(ME, 'a'), watch.watch(ME, 'a')]);
  const other = await watch.watch(anonymousPrincipal(), 'a');
  expect(calls).toEqual(['+a', '+a']);
  one();
  one();
  expect(calls).toHaveLength(2);
  two();
  other();
  expect(calls).toEqual(['+a', '+a', '-a', '-a']);
});

test('a refusal reaches everybody who waited for it, and the next one tries again', async () => {
  const refusal = createDeferred<void>();
  const { calls, watch } = scene(() => refusal.promise);
  const both = Promise.allSettled([watch.watch(ME, 'a'), watch.watch(ME, 'a')]);
  refusal.reject(new Error('refused'));
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(watch.watch(ME, 'a')).rejects.toThrow('refused');
  expect(calls).toEqual(['+a', '+a']);
});
