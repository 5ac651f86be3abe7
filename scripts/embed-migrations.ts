/**
 * Writes the SQLite store's migrations, numbered `.sql` files, into a module: the compiler copies no `.sql`.
 * Run it after each change of a migration; a test tells when that was forgotten.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../src/stores/sqlite/migrations/', import.meta.url);
export const MODULE = fileURLToPath(
  new URL('../src/stores/sqlite/migrations.generated.ts', import.meta.url),
);

const FILE_NAME = /^(?<version>\d{4})-(?<name>[a-z0-9-]+)\.sql$/;
const HEADER = `// Written by scripts/embed-migrations.ts from migrations/*.sql. Do not edit.
import type { Migration } from './migrate.ts';

export const MIGRATIONS: readonly Migration[] = [
`;

/** The module's text, from the files as they are now. */
export function migrationsModule(): string {
  const files = readdirSync(FOLDER).toSorted();
  return `${HEADER}${files.map(entryOf).join('')}];\n`;
}

function entryOf(file: string, index: number): string {
  const parts = FILE_NAME.exec(file)?.groups;
  if (!parts) throw new Error(`migrations/${file}: a migration is named 0001-what-it-does.sql`);
  const version = Number(parts['version']);
  if (version !== index + 1) throw new Error(`migrations/${file}: expected number ${index + 1}`);
  const sql = readFileSync(new URL(file, FOLDER), 'utf8');
  const breaking = sql.startsWith('--! breaking\n');
  return `  {\n    version: ${version},\n    name: '${parts['name']}',\n    breaking: ${breaking},\n    sql: \`${escaped(sql)}\`,\n  },\n`;
}

function escaped(sql: string): string {
  return sql.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${');
}

if (import.meta.main) writeFileSync(MODULE, migrationsModule());
