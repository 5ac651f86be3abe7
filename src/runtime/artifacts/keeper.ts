import { webcrypto } from 'node:crypto';
import { crashPoint } from '../../kernel/crash-point.ts';
import { newId } from '../../kernel/ids.ts';
import { messageOf, type Logger } from '../../kernel/logger.ts';
import type { Random } from '../../kernel/random.ts';
import { expiresAt, type Task } from '../../protocol/model.ts';
import type { Access } from '../../stores/access.ts';
import type { Artifact, ArtifactLimits, ArtifactStore, BlobStore } from '../../stores/artifacts.ts';
import { isAnonymousTask } from '../name-in-logs.ts';
import type { ByteRange } from './artifact-uri.ts';

/** What artifacts may come to, and how long they stay. */
export interface ArtifactPolicy extends ArtifactLimits {
  /** Of one artifact. */
  readonly bytesMax: number;
  /** What of a result becomes an artifact where no tool says so, but must: a job's that would be too large to keep. */
  readonly aboveBytes: number;
  /** How long one stays at least; never less than the record of the task that made it. */
  readonly keepMs: number;
}

export interface KeeperOptions {
  readonly artifacts: ArtifactStore;
  readonly blobs: BlobStore;
  readonly policy: ArtifactPolicy;
  /** The store's time. */
  readonly now: () => number;
  readonly random: Random;
  readonly logger: Logger;
}

export interface NewContent {
  /** Whose it becomes. */
  readonly task: Task;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** `fresh`: made now, not found again. `full`: a limit of ArtifactPolicy stands against it. */
export type Kept =
  | { readonly kind: 'kept'; readonly artifact: Artifact; readonly fresh: boolean }
  | { readonly kind: 'full'; readonly limit: keyof ArtifactPolicy };

/** An artifact that somebody may read. */
export interface OpenedArtifact {
  readonly artifact: Artifact;
  /** A piece at a time. Ends early or rejects where the content is damaged. */
  read(range?: ByteRange): AsyncIterable<Uint8Array>;
}

export interface Healed {
  /** Contents that no row named. */
  readonly blobs: number;
  /** Rows whose content was gone. */
  readonly rows: number;
}

/** Keeps content apart from messages: rows in the store, bytes in the blob store, in an order that survives a death. */
export interface ArtifactKeeper {
  readonly policy: ArtifactPolicy;
  /**
   * Durable when it resolves. The same content of the same task is kept once, so that work which is done again after a
   * death, and a result that is read twice, find it. Rejects where the stores do.
   */
  keep(content: NewContent): Promise<Kept>;
  /** Nothing for an unknown, expired or foreign id. */
  open(access: Access, id: string): Promise<OpenedArtifact | undefined>;
  /** The same, and it stays until that time at least. */
  openUntil(access: Access, id: string, until: number): Promise<OpenedArtifact | undefined>;
  discard(ids: readonly string[]): Promise<void>;
  /** Removes up to `limit` that have expired. */
  sweep(limit: number): Promise<number>;
  /** Removes content without a row and rows without content: what a death, or somebody's hand, has left. */
  heal(): Promise<Healed>;
}

/** Ids that are looked up at once. */
const PAGE = 200;

async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = await webcrypto.subtle.digest('SHA-256', new Uint8Array(bytes)); // off the event loop
  return Buffer.from(digest).toString('hex');
}

export function createArtifactKeeper(options: KeeperOptions): ArtifactKeeper {
  const { artifacts, policy } = options;
  /** Content that is written and has no row yet, or whose row was just deleted: not for `heal` to judge. */
  const between = new Set<string>();
  const keep = createKeep(options, between);
  const remove = createRemove(options, between);
  const opened = (artifact: Artifact | undefined): Promise<OpenedArtifact | undefined> =>
    artifact === undefined ? Promise.resolve(undefined) : openContent(options.blobs, artifact);
  return {
    policy,
    keep,
    open: async (access, id) => opened(await artifacts.get(access, id)),
    openUntil: async (access, id, until) => opened(await artifacts.prolong(access, id, until)),
    async discard(ids) {
      await artifacts.remove(ids);
      await remove(ids);
    },
    async sweep(limit) {
      const expired = await artifacts.sweepExpired(limit);
      await remove(expired);
      return expired.length;
    },
    heal: createHeal(options, between),
  };
}

function createKeep(
  { artifacts, blobs, policy, now, random }: KeeperOptions,
  between: Set<string>,
): ArtifactKeeper['keep'] {
  const keepMsOf = (task: Task): number => {
    const recordMs = Math.max(0, expiresAt(task) - now());
    return isAnonymousTask(task) ? recordMs : Math.max(recordMs, policy.keepMs);
  };
  return async ({ task, name, mediaType, bytes }) => {
    if (bytes.byteLength > policy.bytesMax) return { kind: 'full', limit: 'bytesMax' };
    const { owner, tenant, id: taskId } = task;
    const sha256 = await sha256Of(bytes);
    const earlier = await artifacts.ofTask({ owner, tenant }, taskId);
    const same = earlier.find((one) => one.sha256 === sha256 && one.mediaType === mediaType);
    if (same && (await blobs.read(same.id))) return { kind: 'kept', artifact: same, fresh: false };
    const id = newId('artifact', random);
    between.add(id);
    try {
      await blobs.put(id, bytes);
      crashPoint('after-blob');
      const facts = { id, owner, tenant, taskId, name, mediaType, sha256 };
      const row = { ...facts, bytes: bytes.byteLength, keepMs: keepMsOf(task) };
      const added = await artifacts.add(row, policy);
      if (added.kind === 'added') return { kind: 'kept', artifact: added.artifact, fresh: true };
      await blobs.remove(id);
      return { kind: 'full', limit: added.limit };
    } finally {
      between.delete(id);
    }
  };
}

async function openContent(
  blobs: BlobStore,
  artifact: Artifact,
): Promise<OpenedArtifact | undefined> {
  if (!(await blobs.read(artifact.id))) return undefined;
  return {
    artifact,
    async *read(range) {
      yield* (await blobs.read(artifact.id, range)) ?? [];
    },
  };
}

type RemoveContent = (ids: readonly string[]) => Promise<void>;

/** Takes content away whose row is gone. What fails is found again by `heal`. */
function createRemove({ blobs, logger }: KeeperOptions, between: Set<string>): RemoveContent {
  return async (ids) => {
    for (const id of ids) {
      between.add(id);
      await blobs.remove(id).catch((error: unknown) => {
        logger.warn('artifact.remove_failed', { problem: messageOf(error) });
      });
      between.delete(id);
    }
  };
}

function createHeal({ artifacts, blobs, logger }: KeeperOptions, between: Set<string>) {
  const orphansOf = async (ids: readonly string[]): Promise<readonly string[]> => {
    // Looked at before the rows: what is in between then may have its row by now.
    const candidates = ids.filter((id) => !between.has(id));
    const known = await artifacts.known(candidates);
    return candidates.filter((id) => !known.has(id));
  };
  const healBlobs = async (): Promise<number> => {
    let healed = 0;
    const judge = async (ids: readonly string[]): Promise<void> => {
      for (const id of await orphansOf(ids)) {
        await blobs.remove(id);
        healed += 1;
      }
    };
    let page: string[] = [];
    for await (const id of blobs.ids()) {
      page.push(id);
      if (page.length < PAGE) continue;
      await judge(page);
      page = [];
    }
    await judge(page);
    return healed;
  };
  const healRows = async (): Promise<number> => {
    let healed = 0;
    let ids = await artifacts.idsAfter(undefined, PAGE);
    while (ids.length > 0) {
      const gone: string[] = [];
      for (const id of ids) if (!between.has(id) && !(await blobs.read(id))) gone.push(id);
      await artifacts.remove(gone);
      healed += gone.length;
      ids = await artifacts.idsAfter(ids.at(-1), PAGE);
    }
    return healed;
  };
  return async (): Promise<Healed> => {
    const healed = { blobs: await healBlobs(), rows: await healRows() };
    if (healed.blobs + healed.rows > 0) logger.warn('artifact.healed', { ...healed });
    return healed;
  };
}
