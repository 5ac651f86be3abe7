import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cleanEnv } from '../crash/gateway-process.ts';
import type { CommandLine } from './command.ts';
import type { Place } from './place.ts';
import type { Era } from './real-client.ts';

/** What the Inspector calls the generations. */
export const INSPECTOR_ERAS = {
  '2025-11-25': 'legacy',
  '2026-07-28': 'modern',
} as const satisfies Record<Era, string>;

/** The entries of the configuration file, both of which lead to longcall. */
export const SERVER = 'longcall';
export const SECOND = 'longcall-2';

const NODE_MIN: readonly [major: number, minor: number] = [22, 19];

/** The package says so itself, and fails on less. */
export function cannotRunInspector(): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return isEnough
    ? undefined
    : `the Inspector needs Node.js ${NODE_MIN.join('.')}, and this is ${process.version}`;
}

/** A built program of the package, which is used as it was installed, without its install script. */
export const inspectorFile = (path: string): string =>
  createRequire(import.meta.url).resolve(`@modelcontextprotocol/inspector/clients/${path}`);

/** One program of the package, with everything that it keeps in the row's own folder. */
export function inspectorCommand(file: string, { folder }: Place): CommandLine {
  const env = {
    HOME: folder,
    MCP_STORAGE_DIR: join(folder, 'storage'),
    MCP_INSPECTOR_DAEMON_DIR: join(folder, 'daemon'),
    MCP_INSPECTOR_SECRET_STORE: 'memory',
  };
  return { file, cwd: folder, env: cleanEnv(env) };
}

/** Writes the configuration file that both programs read, and returns its path. */
export function writeServers({ reach, folder }: Place): string {
  const server =
    reach.kind === 'HTTP'
      ? {
          type: 'streamable-http',
          url: reach.url,
          headers: { Authorization: `Bearer ${reach.token}` },
        }
      : { type: 'stdio', command: reach.command, args: reach.args, env: reach.env };
  const file = join(folder, 'servers.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { [SERVER]: server, [SECOND]: server } }));
  return file;
}
