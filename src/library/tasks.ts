import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { EffectClass } from '../protocol/model.ts';
import type { Confirmed } from '../runtime/receiver.ts';
import type { ToolMode } from '../runtime/tool.ts';
import type { Identify, Identity } from './identities.ts';
import type { ArgumentSchema } from './schemas.ts';
import type { ConnectableServer, ServerSource, ToolServer } from './servers.ts';
import type { Settings } from './settings.ts';
import type { Handler, ToolOptions, ToolRules } from './tool-options.ts';

export interface TasksOptions extends Settings {
  /** Who sends a request, where your own checks know it. Without it: the tokens of the data directory, as the gateway. */
  readonly identify?: Identify;
  /** Where callers reach this server, if pages are to confirm over HTTP: `https://tools.example`. */
  readonly url?: string;
  /** Injected for tests. */
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Listens for `http.createServer`, Express (`app.all('/mcp', …)`, before any body parser) and their like. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** One tool as it is served. */
export interface ServedToolStatus {
  readonly name: string;
  readonly effect: EffectClass;
  readonly mode: ToolMode;
  /** Whether it was registered with `tasks.tool`: its steps are journalled, and survive. */
  readonly journalled: boolean;
  /** Where mode and effect come from. */
  readonly why: string;
}

export interface TasksStatus {
  readonly state: 'waiting' | 'serving' | 'failed' | 'closed';
  /** Why it is `failed`, or the server cannot be reached. */
  readonly problem?: string;
  readonly dataDirectory: string;
  /** Where the operators' API is, if it is served. */
  readonly adminUrl?: string;
  readonly tools: readonly ServedToolStatus[];
  /** Calls that run, that wait for people, and questions that are open, in this process. */
  readonly running: number;
  readonly parked: number;
  readonly openQuestions: number;
}

/** What a page says of the person that it was opened for (URL mode). */
export interface PageWord {
  readonly action: 'confirm' | 'decline' | 'cancel';
  readonly content?: JsonObject;
}

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Makes the tools of one MCP server durable. One for a process and its data directory. */
export interface Tasks {
  /**
   * Adds a tool whose handler keeps a journal: after a restart it goes on behind its last finished step. It is put on
   * the server in the server's own way (`registerTool` of the MCP SDK 1.x and 2.x, `addTool` of FastMCP), which also
   * validates arguments and results. Throws LONGCALL_LIBRARY_USAGE and ConfigInvalidError.
   */
  tool<const Input extends ArgumentSchema | undefined = undefined>(
    server: ToolServer,
    name: string,
    options: ToolOptions<Input>,
    handler: Handler<Input>,
  ): void;
  /**
   * Says how tools are served that the server has already; their handlers stay as they are. `server` is the one that
   * has them. Throws LONGCALL_LIBRARY_USAGE and ConfigInvalidError.
   */
  adopt(server: ConnectableServer, rules: Readonly<Record<string, ToolRules>>): void;
  /**
   * Serves MCP at `/mcp`, every generation on one URL. Begins at once: what an earlier process left unfinished goes on
   * before anybody asks. Requests wait until it does; `ready` tells when, or why not.
   */
  handler(source: ServerSource): RequestHandler;
  /** Serves one host over standard input and output, as the local user. Resolves when it has left and all is closed. */
  stdio(source: ServerSource, streams?: StdioStreams): Promise<void>;
  /** Resolves once calls are served. Rejects where that cannot be, for example because the factory throws. */
  ready(): Promise<void>;
  /** The word of a page that `job.askUrl` sent a person to: `who` opened it, `token` is the one that the page was given. */
  confirm(who: Identity | 'local', token: string, word: PageWord): Promise<Confirmed>;
  status(): TasksStatus;
  /** Metrics as Prometheus text. */
  metrics(): Promise<string>;
  /**
   * Ends it: nothing new begins, running calls have `graceMs` (default 10 s), and what does not end goes on in the next
   * process. Nothing here listens for signals: call it from your own handler of SIGTERM.
   */
  close(graceMs?: number): Promise<void>;
}
