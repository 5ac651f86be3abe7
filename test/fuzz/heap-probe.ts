/**
 * Loaded into a gateway before it starts (`--import`): tells the test over IPC how much memory its objects and
 * buffers take after garbage was collected. The product knows nothing of it.
 */
import { setImmediate as turn } from 'node:timers/promises';

async function usedAfterCollection(): Promise<number> {
  for (let rounds = 3; rounds > 0; rounds -= 1) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

process.on('message', (asked) => {
  if (asked === 'heap')
    void usedAfterCollection().then((bytes) => process.send?.({ heapBytes: bytes }));
});
// Listening to the test must not keep alive what would otherwise end.
process.channel?.unref();
