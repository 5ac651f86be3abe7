import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Two people of two tenants. */
export const PEOPLE = {
  alice: { subject: 'alice', tenant: 'north', token: 'token-of-alice-for-tests-only' },
  bob: { subject: 'bob', tenant: 'south', token: 'token-of-bob-for-tests-only' },
} as const;
export type Person = keyof typeof PEOPLE;

export const bearerOf = (person: Person): Record<string, string> => ({
  authorization: `Bearer ${PEOPLE[person].token}`,
});

/** Writes the tokens file into a folder and returns its path. */
export function writeTokens(folder: string): string {
  const entries = Object.entries(PEOPLE).map(([name, { subject, tenant, token }]) => {
    const sha256 = createHash('sha256').update(token).digest('hex');
    return `- { name: ${name}, subject: ${subject}, tenant: ${tenant}, sha256: "${sha256}" }\n`;
  });
  const file = join(folder, 'tokens.yaml');
  writeFileSync(file, entries.join(''), { mode: 0o600 });
  return file;
}
