import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withVersion } from '../clients/package-version.ts';
import { launchUpstream, upstreamCommand } from '../fixtures/upstreams/launch.ts';
import type { Upstream } from '../fixtures/upstreams/launch.ts';
import { freePort, launchEverything, publishedCommand } from './published.ts';

/** What an upstream may use of the test's own. */
export interface Ground {
  readonly folder: string;
  readonly effectsFile: string;
}

/** An upstream as the configuration names it, and how it ends where it is a process of the test's. */
export interface Standing {
  readonly config:
    | { readonly url: string }
    | { readonly command: readonly string[]; readonly env?: Readonly<Record<string, string>> };
  stop(): Promise<void>;
}

/** One call and a text that its result has. */
export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly says: string;
}

/** One real server behind the gateway, with what is asked of it. */
export interface UpstreamRow {
  /** Its name in the configuration; its tools and prompts have it as prefix. */
  readonly name: string;
  /** What it is, for people. */
  readonly is: string;
  readonly over: 'HTTP' | 'stdio';
  readonly says: { readonly name: string; readonly protocol: string };
  /** Which generation its own tasks are of; `none`: a task in front of it is a plain call to it. */
  readonly ownTasks: '2025-11-25' | '2026-07-28' | 'none';
  /** A call that every caller gets an answer to at once. */
  readonly plain: Call;
  /** A call that both generations get a handle of. */
  readonly slow: Call;
  readonly resource?: { readonly uri: string; readonly says: string };
  readonly prompt?: Call;
  start(ground: Ground): Standing | Promise<Standing>;
}

const SDK_V1 = withVersion('SDK v1', '@modelcontextprotocol/sdk');

const nothingToStop = (): Promise<void> => Promise.resolve();

/** A server of the fixtures, as a process of the gateway's. */
const overStdio = (name: Upstream) =>
  ({
    over: 'stdio',
    start({ effectsFile }: Ground): Standing {
      const { command, args } = upstreamCommand(name);
      const env = { EFFECTS_LOG: effectsFile };
      return { config: { command: [command, ...args], env }, stop: nothingToStop };
    },
  }) as const;

/** The same as a process of the test's. */
const overHttp = (name: Upstream) =>
  ({
    over: 'HTTP',
    async start({ effectsFile }: Ground): Promise<Standing> {
      const { url, stop } = await launchUpstream(name, { EFFECTS_LOG: effectsFile });
      return { config: { url }, stop };
    },
  }) as const;

const EVERYTHING = {
  says: { name: 'mcp-servers/everything', protocol: '2025-11-25' },
  ownTasks: '2025-11-25',
  plain: { tool: 'echo', args: { message: 'hello' }, says: 'Echo: hello' },
  slow: { tool: 'simulate-research-query', args: { topic: 'tea' }, says: 'tea' },
  resource: { uri: 'demo://resource/dynamic/text/7', says: 'Resource 7' },
  prompt: { tool: 'args-prompt', args: { city: 'Utrecht' }, says: 'Utrecht' },
} as const satisfies Partial<UpstreamRow>;

const TASKS_V1 = {
  says: { name: 'tasks-v1-fixture', protocol: '2025-11-25' },
  ownTasks: '2025-11-25',
  plain: { tool: 'quick', args: {}, says: 'quick' },
  slow: { tool: 'rebuild_index', args: { tag: 'row', ms: 300 }, says: 'worked on row' },
} as const satisfies Partial<UpstreamRow>;

const TASKS_2026 = {
  says: { name: 'task-server', protocol: '2026-07-28' },
  ownTasks: '2026-07-28',
  plain: { tool: 'greet', args: { name: 'you' }, says: 'Hello, you!' },
  slow: { tool: 'slow_compute', args: { seconds: 0.3, label: 'row' }, says: 'row: computed' },
} as const satisfies Partial<UpstreamRow>;

/** A row as people name it. */
export const upstreamTitle = ({ is, says, over }: UpstreamRow): string =>
  `${is}, ${says.protocol}, ${over}`;

/** Servers that stand behind one gateway together. */
export const ROWS: readonly UpstreamRow[] = [
  {
    ...EVERYTHING,
    name: 'everything',
    is: withVersion('server-everything', '@modelcontextprotocol/server-everything'),
    over: 'stdio',
    start: () => ({
      config: { command: publishedCommand('server-everything') },
      stop: nothingToStop,
    }),
  },
  {
    name: 'files',
    is: withVersion('server-filesystem', '@modelcontextprotocol/server-filesystem'),
    over: 'stdio',
    says: { name: 'secure-filesystem-server', protocol: '2025-11-25' },
    ownTasks: 'none',
    plain: { tool: 'list_allowed_directories', args: {}, says: 'Allowed directories' },
    slow: { tool: 'search_files', args: { path: '.', pattern: '*.txt' }, says: 'note.txt' },
    start({ folder }) {
      const own = realpathSync(folder);
      writeFileSync(join(own, 'note.txt'), 'from the disk');
      // Relative paths are looked for in the folder that it was given.
      return {
        config: { command: publishedCommand('server-filesystem', own) },
        stop: nothingToStop,
      };
    },
  },
  {
    name: 'memory',
    is: withVersion('server-memory', '@modelcontextprotocol/server-memory'),
    over: 'stdio',
    says: { name: 'memory-server', protocol: '2025-11-25' },
    ownTasks: 'none',
    plain: { tool: 'read_graph', args: {}, says: 'entities' },
    slow: { tool: 'search_nodes', args: { query: 'tea' }, says: 'relations' },
    resource: { uri: 'memory://knowledge-graph', says: 'entities' },
    start: ({ folder }) => ({
      config: {
        command: publishedCommand('server-memory'),
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      },
      stop: nothingToStop,
    }),
  },
  {
    ...TASKS_V1,
    name: 'v1',
    is: `${SDK_V1} with registerToolTask`,
    ...overStdio('tasks-v1'),
  },
  {
    ...TASKS_V1,
    name: 'v1_http',
    is: `${SDK_V1} with registerToolTask`,
    ...overHttp('tasks-v1'),
  },
  {
    name: 'fast',
    is: withVersion('fastmcp', 'fastmcp'),
    says: { name: 'fastmcp-fixture', protocol: '2025-11-25' },
    ownTasks: 'none',
    plain: { tool: 'quick', args: { tag: 'row' }, says: 'quick row' },
    slow: { tool: 'slow', args: { tag: 'row', ms: 300 }, says: 'slow row is done' },
    ...overStdio('fastmcp'),
  },
  {
    ...TASKS_2026,
    name: 'modern',
    is: 'a server of the tasks extension',
    ...overStdio('tasks-2026'),
  },
  {
    ...TASKS_2026,
    name: 'modern_http',
    is: 'a server of the tasks extension',
    ...overHttp('tasks-2026'),
  },
  {
    name: 'older',
    is: `${SDK_V1} held to an older version`,
    says: { name: 'older-fixture', protocol: '2025-06-18' },
    ownTasks: 'none',
    plain: { tool: 'quick', args: { tag: 'row' }, says: 'quick row' },
    slow: { tool: 'slow', args: { tag: 'row', ms: 300 }, says: 'slow row' },
    resource: { uri: 'older://note', says: 'a note of old' },
    prompt: { tool: 'greeting', args: {}, says: 'as of old' },
    ...overHttp('older'),
  },
];

/** Has the same resources as its twin over stdio, so it stands behind a gateway of its own. */
export const EVERYTHING_OVER_HTTP: UpstreamRow = {
  ...EVERYTHING,
  name: 'everything_http',
  is: withVersion('server-everything', '@modelcontextprotocol/server-everything'),
  over: 'HTTP',
  async start() {
    const { url, stop } = await launchEverything(await freePort());
    return { config: { url }, stop };
  },
};
