import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { LongcallError } from '../../kernel/errors.ts';
import type { Environment } from './yaml-source.ts';

export const CONFIG_FILE_NAME = 'longcall.yaml';

export interface DiscoverOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** `--config`. */
  readonly configPath?: string;
}

/**
 * The configuration file: `--config`, `LONGCALL_CONFIG`, longcall.yaml here or in a folder above inside the same
 * repository, the user's own. Outside a repository no folder above counts: a file that somebody left in a shared
 * folder must not choose which commands run.
 */
export function findConfigFile({ cwd, env, configPath }: DiscoverOptions): string | undefined {
  const named = configPath ?? nonEmpty(env['LONGCALL_CONFIG']);
  if (named !== undefined)
    return existingFile(
      resolve(cwd, named),
      configPath === undefined ? 'LONGCALL_CONFIG' : '--config',
    );
  const candidates = [
    ...foldersUpToRepository(cwd).map((folder) => join(folder, CONFIG_FILE_NAME)),
    userFile(env),
  ];
  return candidates.find((file) => existsSync(file));
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

function existingFile(file: string, named: string): string {
  if (existsSync(file)) return file;
  throw new LongcallError(
    'LONGCALL_CONFIG_NOT_FOUND',
    `${named} names ${file}, which is not there`,
    {
      hint: 'correct the path, or leave it out to run with the defaults',
    },
  );
}

function foldersUpToRepository(cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    if (folder === dirname(folder)) return folders.slice(0, 1);
  }
}

function userFile(env: Environment): string {
  const base =
    nonEmpty(env['XDG_CONFIG_HOME']) ?? join(nonEmpty(env['HOME']) ?? homedir(), '.config');
  return join(base, 'longcall', 'config.yaml');
}
