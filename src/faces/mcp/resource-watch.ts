import type { Principal } from '../../identity/principal.ts';
import { messageOf, type Logger } from '../../kernel/logger.ts';
import { isOwnUri } from '../../runtime/artifacts/artifact-uri.ts';
import type { Surface } from '../../runtime/surface.ts';

/**
 * Who watches which resource. Several sessions and listens of one principal share one subscription upstream: it is
 * made for the first and ended with the last.
 */
export interface ResourceWatch {
  /** Resolves to the way to stop. Rejects where the upstream refuses. */
  watch(principal: Principal, uri: string): Promise<() => void>;
}

interface Shared {
  watchers: number;
  readonly ready: Promise<void>;
}

export function createResourceWatch(surface: Surface, logger: Logger): ResourceWatch {
  const shared = new Map<string, Shared>();
  const unsubscribe = (principal: Principal, uri: string): void =>
    void surface
      .unsubscribeResource(principal, uri)
      .catch((error: unknown) =>
        logger.debug('face.unsubscribe_failed', { problem: messageOf(error) }),
      );
  return {
    async watch(principal, uri) {
      if (isOwnUri(uri)) return () => undefined; // an artifact never changes, and its id is nobody else's to know
      const key = `${principal.key} ${uri}`;
      const entry = shared.get(key) ?? {
        watchers: 0,
        ready: surface.subscribeResource(principal, uri),
      };
      shared.set(key, entry);
      entry.watchers += 1;
      const leave = (): boolean => {
        entry.watchers -= 1;
        if (entry.watchers > 0 || shared.get(key) !== entry) return false;
        return shared.delete(key);
      };
      await entry.ready.catch((error: unknown) => {
        leave();
        throw error;
      });
      let watching = true;
      return () => {
        if (watching && leave()) unsubscribe(principal, uri);
        watching = false;
      };
    },
  };
}
