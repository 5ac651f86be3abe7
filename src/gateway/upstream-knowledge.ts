import { messageOf } from '../kernel/logger.ts';
import type { Connection } from '../requestor/connection.ts';
import type { Verdict } from '../requestor/handshake.ts';
import type { ManifestStore } from '../stores/manifests.ts';
import type { Settings, UpstreamOptions } from './options.ts';
import { loadDocument, storeDocument, takeDocument, type PeerDocument } from './peer-document.ts';

/** What is known of an upstream, kept across restarts so that discovery answers at once. */
export interface UpstreamKnowledge {
  document(): PeerDocument | undefined;
  /** ms since the epoch. */
  takenAt(): number | undefined;
  /** The handshake that worked last. */
  verdict(): Verdict | undefined;
  /** The handshake that worked before no longer does: the next attempt asks again (G2-182). */
  forgetVerdict(): void;
  /** Reads what an earlier process has kept. */
  load(): Promise<void>;
  /** Takes the evidence anew over a connection, and keeps it. Tells whether the tools read differently. */
  learn(connection: Connection): Promise<'same' | 'changed'>;
}

export function createKnowledge(
  { name, endpoint }: UpstreamOptions,
  manifests: ManifestStore,
  { clock, logger }: Settings,
): UpstreamKnowledge {
  let document: PeerDocument | undefined;
  let takenAt: number | undefined;
  let verdict: Verdict | undefined;
  const keep = (taken: PeerDocument, at: number): Promise<void> => {
    [document, takenAt, verdict] = [taken, at, taken.verdict];
    const kept = manifests.put({
      upstream: name,
      takenAt: at,
      document: storeDocument(taken, endpoint),
    });
    return kept.catch((error: unknown) =>
      logger.warn('upstream.manifest_not_stored', { upstream: name, problem: messageOf(error) }),
    );
  };
  return {
    document: () => document,
    takenAt: () => takenAt,
    verdict: () => verdict,
    forgetVerdict: () => void (verdict = undefined),
    async load() {
      const stored = await manifests.get(name);
      const loaded = stored && loadDocument(stored.document, endpoint);
      if (loaded) [document, takenAt, verdict] = [loaded, stored.takenAt, loaded.verdict];
    },
    async learn(connection) {
      const before = document?.tools;
      const taken = await takeDocument(connection, logger);
      await keep(taken, clock.now());
      return JSON.stringify(before) === JSON.stringify(taken.tools) ? 'same' : 'changed';
    },
  };
}
