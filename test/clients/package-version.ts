import { readFileSync } from 'node:fs';

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>;

/** A name for people with the exact version that this repository depends on. */
export function withVersion(name: string, packageName: string): string {
  const version = dependencies[packageName] ?? devDependencies[packageName];
  if (version === undefined) throw new Error(`${packageName} is not in package.json`);
  return `${name} ${version}`;
}
