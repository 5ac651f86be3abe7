import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ENDPOINT_FILE } from '../compose/endpoint-file.ts';
import { isLoopback } from '../gateway/config/address.ts';
import { loadDataDirectory } from '../gateway/config/load.ts';
import { SECRET_FILES } from '../identity/data-secrets.ts';
import { readPrivateFile } from '../identity/private-file.ts';
import { LongcallError } from '../kernel/errors.ts';
import { isJsonObject } from '../kernel/json.ts';
import { messageOf } from '../kernel/logger.ts';
import type { CliIo } from './io.ts';

/** Where the command line says that the gateway is. */
export interface AdminFlags {
  /** `--server`: base URL of an admin endpoint. */
  readonly server?: string | undefined;
  /** `--data`: the gateway's data directory. */
  readonly data?: string | undefined;
  /** `--config`. */
  readonly config?: string | undefined;
}

/** What the gateway wrote when it began to listen: `<data>/endpoint.json`. */
export interface EndpointFile {
  readonly adminUrl: string;
  readonly pid: number;
}

export interface AdminTarget {
  readonly url: string;
  readonly token: string;
  /** What to do where the token is refused, which depends on where it was found. */
  readonly deniedHint: string;
  /** The process that wrote the endpoint file; absent with `--server`. */
  readonly pid?: number;
}

/** The environment's word for the admin token; a flag would show it to every user of the machine. */
export const ADMIN_TOKEN_VARIABLE = 'LONGCALL_ADMIN_TOKEN';

const START_HINT =
  'start it with `longcall gateway`, or name a running one with --data or --server; a server of longcall/server needs `admin` in createTasks';

/** The data directory that flags, environment and configuration name; nothing is created. */
export function dataDirectoryOf(flags: AdminFlags, io: Pick<CliIo, 'cwd' | 'env'>): string {
  if (flags.data !== undefined) return resolve(io.cwd, flags.data);
  const said = flags.config === undefined ? {} : { config: flags.config };
  return loadDataDirectory({ cwd: io.cwd, env: io.env, flags: said });
}

/** Finds the running gateway, or throws LONGCALL_ADMIN_UNREACHABLE and how to start one. */
export function locateAdmin(flags: AdminFlags, io: Pick<CliIo, 'cwd' | 'env'>): AdminTarget {
  if (flags.server !== undefined) return namedTarget(flags.server, flags, io);
  const data = dataDirectoryOf(flags, io);
  const endpoint = readEndpointFile(data);
  if (endpoint === undefined) {
    throw new LongcallError('LONGCALL_ADMIN_UNREACHABLE', `no gateway runs on ${data}`, {
      hint: START_HINT,
    });
  }
  return { url: endpoint.adminUrl, pid: endpoint.pid, ...tokenOf(data, io) };
}

function namedTarget(
  server: string,
  flags: AdminFlags,
  io: Pick<CliIo, 'cwd' | 'env'>,
): AdminTarget {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new LongcallError('LONGCALL_USAGE', '--server must be a URL, like http://127.0.0.1:8788');
  const named = namedToken(io);
  if (named !== undefined) return { url: url.origin, ...named };
  if (!isLoopback(url.hostname.replace(/^\[|\]$/g, ''))) {
    throw new LongcallError('LONGCALL_ADMIN_DENIED', `no admin token for ${url.origin}`, {
      hint: `set ${ADMIN_TOKEN_VARIABLE}; the local token is sent to this machine only`,
    });
  }
  return { url: url.origin, ...tokenOf(dataDirectoryOf(flags, io), io) };
}

/** What the gateway of that data directory wrote; nothing where there is no file, or none that makes sense. */
export function readEndpointFile(data: string): EndpointFile | undefined {
  const text = readIfThere(join(data, ENDPOINT_FILE));
  const parsed = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(parsed)) return undefined;
  const { adminUrl, pid } = parsed;
  if (typeof adminUrl !== 'string' || typeof pid !== 'number') return undefined;
  return URL.canParse(adminUrl) ? { adminUrl: new URL(adminUrl).origin, pid } : undefined;
}

type FoundToken = Pick<AdminTarget, 'token' | 'deniedHint'>;

function namedToken(io: Pick<CliIo, 'env'>): FoundToken | undefined {
  const token = io.env[ADMIN_TOKEN_VARIABLE];
  if (token === undefined || token === '') return undefined;
  const deniedHint = `it came from ${ADMIN_TOKEN_VARIABLE}: correct it, or unset it to use admin-token in the data directory`;
  return { token, deniedHint };
}

/** The token of the environment, else that of the data directory, which only its owner may be able to read. */
function tokenOf(data: string, io: Pick<CliIo, 'env'>): FoundToken {
  const named = namedToken(io);
  if (named !== undefined) return named;
  const file = join(data, SECRET_FILES.adminToken);
  const token = readPrivateFile(file)?.toString('utf8').trim();
  const deniedHint = `it came from ${file}: name the data directory of that gateway with --data, or set ${ADMIN_TOKEN_VARIABLE}`;
  if (token !== undefined && token !== '') return { token, deniedHint };
  throw new LongcallError('LONGCALL_ADMIN_DENIED', `${data} has no admin token`, {
    hint: `name the data directory of the gateway with --data, or set ${ADMIN_TOKEN_VARIABLE}`,
  });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new LongcallError(
      'LONGCALL_DATA_UNUSABLE',
      `${file} cannot be read: ${messageOf(error)}`,
      {
        cause: error,
        hint: 'run as the user that runs the gateway',
      },
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
