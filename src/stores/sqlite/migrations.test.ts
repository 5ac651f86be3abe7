import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MODULE, migrationsModule } from '../../../scripts/embed-migrations.ts';
import { MIGRATIONS } from './migrations.generated.ts';

test('the embedded migrations are those of the .sql files: run node scripts/embed-migrations.ts', () => {
  expect(readFileSync(MODULE, 'utf8')).toBe(migrationsModule());
});

test('migrations are numbered from one without gaps', () => {
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});
