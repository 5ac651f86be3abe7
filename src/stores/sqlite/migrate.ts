import type { DatabaseSync } from 'node:sqlite';
import { LongcallError } from '../../kernel/errors.ts';

/** One step of the schema, forward only. Numbers are the same in every store. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Older code cannot live with what this does, and refuses to open the store. First line `--! breaking`. */
  readonly breaking: boolean;
  readonly sql: string;
}

const CREATE_VERSIONS = `
  CREATE TABLE IF NOT EXISTS schema_versions (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    breaking INTEGER NOT NULL CHECK (breaking IN (0, 1)),
    applied_at INTEGER NOT NULL
  ) STRICT`;
const HAS_VERSIONS = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'`;
const SELECT_VERSIONS = `SELECT version, name, breaking FROM schema_versions ORDER BY version`;
const INSERT_VERSION = `
  INSERT INTO schema_versions (version, name, breaking, applied_at)
  VALUES (:version, :name, :breaking, :appliedAt)`;

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly breaking: boolean;
}

/**
 * Brings the schema up to date and answers its version. Safe when several processes open the same file at once: the
 * steps that are missing are looked for again under the write lock. Throws LONGCALL_STORE_SCHEMA_TOO_NEW where newer
 * code has made a breaking step; newer steps that break nothing are left alone.
 */
export function migrate(db: DatabaseSync, migrations: readonly Migration[], now: number): number {
  if (missing(db, migrations).length > 0) applyMissing(db, migrations, now);
  return appliedTo(db).at(-1)?.version ?? 0;
}

function applyMissing(db: DatabaseSync, migrations: readonly Migration[], now: number): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(CREATE_VERSIONS);
    const record = db.prepare(INSERT_VERSION);
    for (const { version, name, breaking, sql } of missing(db, migrations)) {
      record.run({ version, name, breaking: Number(breaking), appliedAt: now });
      db.exec(sql);
    }
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function missing(db: DatabaseSync, migrations: readonly Migration[]): readonly Migration[] {
  const applied = appliedTo(db);
  refuseTooNew(applied, migrations.at(-1)?.version ?? 0);
  const versions = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !versions.has(version));
}

function appliedTo(db: DatabaseSync): readonly Applied[] {
  if (db.prepare(HAS_VERSIONS).get() === undefined) return [];
  return db
    .prepare(SELECT_VERSIONS)
    .all()
    .map((row) => ({
      version: Number(row['version']),
      name: String(row['name']),
      breaking: row['breaking'] === 1,
    }));
}

function refuseTooNew(applied: readonly Applied[], known: number): void {
  const tooNew = applied.find(({ version, breaking }) => breaking && version > known);
  if (tooNew === undefined) return;
  throw new LongcallError(
    'LONGCALL_STORE_SCHEMA_TOO_NEW',
    `the store was changed by a newer longcall (schema ${tooNew.version}, ${tooNew.name}; this one knows ${known})`,
    { hint: 'start the newer longcall again, or restore a backup from before it was installed' },
  );
}
