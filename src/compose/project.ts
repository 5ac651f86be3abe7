import { createHmac } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { UpstreamConfig } from '../gateway/config/config.ts';
import type { UpstreamOptions } from '../gateway/options.ts';
import {
  canonicalJson,
  isJsonObject,
  stringAt,
  type Json,
  type JsonObject,
} from '../kernel/json.ts';
import { markedUpstreamName, type ProjectMark } from '../protocol/upstream-name.ts';
import { childEnvironment } from '../requestor/child-process.ts';
import { upstreamOptions } from './upstream-side.ts';

/** What a window brings to the engine: its folder, the servers that it wants, and what those are started with. */
export interface Project {
  /** The folder that the window is about; what its servers are told apart by, beside what they are. */
  readonly folder: string;
  readonly upstreams: readonly UpstreamConfig[];
  /** The small environment that its servers get beside their own; of the window's process, not of the engine's. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The project of this process. `folder`: where it was started, or was told to be. */
export function createProject(folder: string, upstreams: readonly UpstreamConfig[]): Project {
  // A server has no terminal, and windows of one project may have several kinds of it.
  const { TERM: _terminal, ...environment } = childEnvironment();
  return { folder: realpathSync(folder), upstreams, environment };
}

export const projectBody = (project: Project): JsonObject =>
  JSON.parse(JSON.stringify({ project })) as JsonObject;

/** The project in a front's request; it was proved to come from this user, by the same version. */
export function readProject({ project }: JsonObject): Project | undefined {
  if (!isJsonObject(project) || stringAt(project, 'folder') === undefined) return undefined;
  const { upstreams, environment } = project;
  return Array.isArray(upstreams) && isJsonObject(environment)
    ? (project as unknown as Project)
    : undefined;
}

const PROJECT_CHARS = 8;
const IDENTITY_CHARS = 12;

/** Keyed: what it is made of has secrets, and it stands in records and logs. */
function digest(secret: Uint8Array, value: Json): string {
  return createHmac('sha256', secret).update(canonicalJson(value, 'as-printed')).digest('hex');
}

/** Stands for everything that a window brings: two with the same share their servers' connections. */
export const setKeyOf = (project: Project, secret: Uint8Array): string =>
  digest(secret, project as unknown as Json);

/** Stands for the project alone, whatever servers and environment its windows have. */
export const projectIdOf = ({ folder }: Pick<Project, 'folder'>, secret: Uint8Array): string =>
  digest(secret, ['project', folder]).slice(0, PROJECT_CHARS);

/** The servers of a window, each under a name that no server has that is anything else. */
export function projectUpstreams(project: Project, secret: Uint8Array): readonly UpstreamOptions[] {
  const { folder, environment } = project;
  const projectId = projectIdOf(project, secret);
  return project.upstreams.map((upstream) => {
    const { endpoint } = upstream;
    const parts: Json = ['upstream', endpoint, environment, [folder]];
    const mark: ProjectMark = {
      project: projectId,
      identity: digest(secret, parts).slice(0, IDENTITY_CHARS),
    };
    const options = upstreamOptions(upstream);
    return {
      ...options,
      name: markedUpstreamName(upstream.name, mark),
      endpoint: endpoint.kind === 'stdio' ? { ...endpoint, baseEnv: environment } : endpoint,
    };
  });
}
