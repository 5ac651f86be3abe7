import { MessageChannel } from 'node:worker_threads';

/** Keeps the process from ending while it only waits for a timer, until the answer is called. */
export function holdOpen(): () => void {
  const { port1, port2 } = new MessageChannel();
  port1.ref();
  return () => {
    port1.close();
    port2.close();
  };
}
