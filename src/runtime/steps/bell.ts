import { createDeferred } from '../../kernel/deferred.ts';

/** Wakes one listener. A ring that nobody waited for is heard by the next who does; several count as one. */
export interface Bell {
  ring(): void;
  rung(): Promise<void>;
}

export function createBell(): Bell {
  let heard = createDeferred<void>();
  return {
    ring: () => heard.resolve(),
    async rung() {
      await heard.promise;
      heard = createDeferred();
    },
  };
}

/** Resolves when the code that was just called back has run as far as it can without another event. */
export const quiet = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
