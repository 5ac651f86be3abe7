import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../kernel/logger.ts';
import type { StoreHealth } from '../store.ts';
import { MIGRATIONS } from './migrations.generated.ts';

const BUSY_TIMEOUT_MS = 5000;

/**
 * Looks at a database file that no process serves now, and changes nothing: no migration, no repair. Nothing where
 * there is no file. A file that cannot be read is an unsound store, not an error.
 */
export function inspectSqliteFile(path: string): StoreHealth | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return inspect(path);
  } catch (error) {
    return { kind: 'sqlite', schemaVersion: 0, ok: false, detail: `${path}: ${messageOf(error)}` };
  }
}

function inspect(path: string): StoreHealth {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const findings = db
      .prepare('PRAGMA quick_check(3)')
      .all()
      .map((row) => String(row['quick_check']));
    const isSound = findings.length === 1 && findings[0] === 'ok';
    const schemaVersion = schemaOf(db);
    const detail = isSound ? schemaRemark(schemaVersion) : findings.join('; ');
    return { kind: 'sqlite', schemaVersion, ok: isSound, detail: `${path}${detail}` };
  } finally {
    db.close();
  }
}

function schemaOf(db: DatabaseSync): number {
  const row = db
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'`)
    .get();
  if (row === undefined) return 0;
  return Number(
    db.prepare('SELECT max(version) AS version FROM schema_versions').get()?.['version'],
  );
}

function schemaRemark(version: number): string {
  const known = MIGRATIONS.at(-1)?.version ?? 0;
  if (version === known) return '';
  return version < known
    ? `, which the next start brings to ${known}`
    : `, newer than the ${known} of this longcall`;
}
