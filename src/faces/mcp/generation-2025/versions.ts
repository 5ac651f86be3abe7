/** The revisions before 2026-07-28 that are served, newest first: the first is offered where a client asks for another. */
export const SESSION_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type SessionVersion = (typeof SESSION_VERSIONS)[number];

export const isSessionVersion = (version: unknown): version is SessionVersion =>
  (SESSION_VERSIONS as readonly unknown[]).includes(version);

/** G1-149: the requested version where we have it, else our newest of that line. */
export const negotiate = (requested: string): SessionVersion =>
  isSessionVersion(requested) ? requested : SESSION_VERSIONS[0];

/** JSON-RPC batches came with 2025-03-26 and went with 2025-06-18. */
export const takesBatches = (version: SessionVersion): boolean => version < '2025-06-18';
