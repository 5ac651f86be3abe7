import type { DatabaseSync } from 'node:sqlite';
import type { AddedArtifact, Artifact, ArtifactLimits, ArtifactStore } from '../artifacts.ts';
import { ARTIFACT_BYTES_MIN } from '../artifacts.ts';
import type { Access } from '../access.ts';
import { PAGE_ROWS_MAX, pageLimit, roundLimit } from './limits.ts';
import { numberAt, optionalTextAt, present, textAt } from './rows.ts';
import type { Row } from './rows.ts';
import type { Session } from './session.ts';
import { mayAccess } from './visibility.ts';

const COLUMNS =
  'id, owner, tenant, task_id, name, media_type, bytes, sha256, created_at, expires_at';
const INSERT = `
  INSERT INTO artifacts (${COLUMNS})
  VALUES (:id, :owner, :tenant, :taskId, :name, :mediaType, :bytes, :sha256, :now, :expiresAt)`;
const OWN = '(:owner IS NULL OR (tenant = :tenant AND owner = :owner))';
const NEWEST = `
  SELECT ${COLUMNS} FROM artifacts WHERE expires_at > :now AND tenant = :tenant AND owner = :owner
  ORDER BY created_at DESC, id DESC LIMIT :limit`;
const NEWEST_OF_ALL = `
  SELECT ${COLUMNS} FROM artifacts WHERE expires_at > :now ORDER BY seq DESC LIMIT :limit`;
const OF_TASK = `
  SELECT ${COLUMNS} FROM artifacts WHERE task_id = :taskId AND expires_at > :now AND ${OWN}
  ORDER BY seq LIMIT ${PAGE_ROWS_MAX}`;
const DELETE_EXPIRED = `
  DELETE FROM artifacts WHERE seq IN (
    SELECT seq FROM artifacts WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
  )
  RETURNING id`;
const AFTER = 'SELECT id FROM artifacts WHERE id > :after ORDER BY id LIMIT :limit';
const BYTES = 'SELECT bytes FROM artifact_bytes WHERE tenant = ? AND owner = ?';

/** Rows of artifacts; the schema's triggers keep count of their bytes. */
export function createArtifactStore({ commit, db }: Session): ArtifactStore {
  const insert = db.prepare(INSERT);
  const select = db.prepare(`SELECT ${COLUMNS} FROM artifacts WHERE id = ?`);
  const remove = db.prepare('DELETE FROM artifacts WHERE id = ?');
  const extend = db.prepare('UPDATE artifacts SET expires_at = max(expires_at, ?) WHERE id = ?');
  const ofTask = db.prepare(OF_TASK);
  const deleteExpired = db.prepare(DELETE_EXPIRED);
  const after = db.prepare(AFTER);
  const count = db.prepare('SELECT count(*) AS rows FROM artifacts');
  const newest = createNewest(db);
  const kept = createKeptBytes(db);
  const find = (access: Access, artifactId: string, now: number): Artifact | undefined => {
    const row = select.get(artifactId);
    const artifact = row && decodeArtifact(row);
    const isThere = artifact && artifact.expiresAt > now && mayAccess(access, artifact);
    return isThere ? artifact : undefined;
  };
  return {
    add: ({ keepMs, ...artifact }, limits) =>
      commit.write((now): AddedArtifact => {
        const full = kept.fullWith(artifact, limits);
        if (full) return full;
        const { id, taskId = null, ...rest } = artifact;
        insert.run({ ...rest, id, taskId, now, expiresAt: now + keepMs });
        return { kind: 'added', artifact: decodeArtifact(select.get(id) ?? {}) };
      }),
    get: (access, artifactId) => commit.read((now) => find(access, artifactId, now)),
    prolong: (access, artifactId, until) =>
      commit.write((now) => {
        if (find(access, artifactId, now)) extend.run(until, artifactId);
        return find(access, artifactId, now);
      }),
    list: (access, limit) => commit.read((now) => newest(access, { now, limit: pageLimit(limit) })),
    ofTask: (access, taskId) =>
      commit.read((now) => ofTask.all({ taskId, now, ...ownerOf(access) }).map(decodeArtifact)),
    sweepExpired: (limit) =>
      commit.write((now) =>
        deleteExpired.all({ now, limit: roundLimit(limit) }).map((row) => textAt(row, 'id')),
      ),
    known: (ids) => commit.read(() => new Set(ids.filter((id) => select.get(id) !== undefined))),
    idsAfter: (last = '', limit) =>
      commit.read(() =>
        after.all({ after: last, limit: pageLimit(limit) }).map((row) => textAt(row, 'id')),
      ),
    remove: (ids) => commit.write(() => ids.forEach((id) => remove.run(id))),
    usage: () =>
      commit.read(() => ({ count: numberAt(count.get() ?? {}, 'rows'), bytes: kept.of('', '') })),
  };
}

const ownerOf = (
  access: Access,
): { readonly owner: string | null; readonly tenant: string | null } =>
  access === 'system' ? { owner: null, tenant: null } : access;

interface NewestPage {
  readonly now: number;
  readonly limit: number;
}

function createNewest(db: DatabaseSync): (access: Access, page: NewestPage) => readonly Artifact[] {
  const ofOwner = db.prepare(NEWEST);
  const ofAll = db.prepare(NEWEST_OF_ALL);
  return (access, { now, limit }) =>
    (access === 'system'
      ? ofAll.all({ now, limit })
      : ofOwner.all({ now, limit, owner: access.owner, tenant: access.tenant })
    ).map(decodeArtifact);
}

interface KeptBytes {
  of(tenant: string, owner: string): number;
  /** The narrowest limit that another artifact would break. */
  fullWith(
    artifact: Pick<Artifact, 'tenant' | 'owner' | 'bytes'>,
    limits: ArtifactLimits,
  ): Extract<AddedArtifact, { readonly kind: 'full' }> | undefined;
}

function createKeptBytes(db: DatabaseSync): KeptBytes {
  const select = db.prepare(BYTES);
  const of = (tenant: string, owner: string): number => {
    const row = select.get(tenant, owner);
    return row === undefined ? 0 : numberAt(row, 'bytes');
  };
  return {
    of,
    fullWith({ tenant, owner, bytes }, limits) {
      const room = Math.max(bytes, ARTIFACT_BYTES_MIN);
      const kept = [
        { limit: 'perPrincipalBytes', bytes: of(tenant, owner) },
        { limit: 'perTenantBytes', bytes: of(tenant, '') },
        { limit: 'totalBytes', bytes: of('', '') },
      ] as const;
      const broken = kept.find(({ limit, bytes: there }) => there + room > limits[limit]);
      return broken && { kind: 'full', ...broken };
    },
  };
}

function decodeArtifact(row: Row): Artifact {
  return {
    id: textAt(row, 'id'),
    owner: textAt(row, 'owner'),
    tenant: textAt(row, 'tenant'),
    ...present({ taskId: optionalTextAt(row, 'task_id') }),
    name: textAt(row, 'name'),
    mediaType: textAt(row, 'media_type'),
    bytes: numberAt(row, 'bytes'),
    sha256: textAt(row, 'sha256'),
    createdAt: numberAt(row, 'created_at'),
    expiresAt: numberAt(row, 'expires_at'),
  };
}
