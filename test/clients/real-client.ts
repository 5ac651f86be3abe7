import type { Operation } from './operations.ts';
import type { Place } from './place.ts';

/** Arguments of the fixture's tools. */
export type ToolArguments = Readonly<{ tag: string; ms?: number; steps?: number }>;

/** What the tool `ask` is told by whoever answers for a client. */
export const ANSWER = 'yes';

/**
 * A connected client; each member is one thing that its user does with it. A member that is missing is something that
 * the client cannot do, and the table says why.
 */
export interface RealClient {
  /** The name of the server, as the client knows it. */
  serverName(): Promise<string>;
  toolNames(): Promise<readonly string[]>;
  /** Calls a tool the ordinary way; the text of what came back. */
  call(tool: string, args: ToolArguments): Promise<string>;
  /** Calls a tool as a task and follows it to its end; the text of its result. */
  callAsTask?(tool: string, args: ToolArguments): Promise<string>;
  /** Begins a task and does not wait for it; its id. */
  begin?(tool: string, args: ToolArguments): Promise<string>;
  /** The status of a task, in the protocol's word. */
  status?(taskId: string): Promise<string>;
  /** The text of the result of a task, waiting for its end where it must. */
  result?(taskId: string): Promise<string>;
  cancel?(taskId: string): Promise<void>;
  /** Calls a tool that asks, and answers with `ANSWER`; the text of what came back. */
  callAndAnswer?(tool: string, args: ToolArguments): Promise<string>;
  /** Calls a tool; what it reported on the way. */
  progressOf?(tool: string, args: ToolArguments): Promise<readonly number[]>;
  /** Leaves without cancelling anything, and ends every process that belongs to it. */
  close(): Promise<void>;
}

/** Why cells stay empty. Operations that are missing for one reason share one of these. */
export interface EmptyCell {
  readonly reason: string;
  /** Shows that the reason still holds, and fails when it does not. */
  holds(client: RealClient, place: Place): Promise<void>;
}

export type EmptyCells = Readonly<Partial<Record<Operation, EmptyCell>>>;

export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];
export const TRANSPORTS = ['HTTP', 'stdio'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** One row of the table: a client on one protocol generation and one transport. */
export interface ClientRow {
  readonly client: string;
  readonly era: Era;
  readonly transport: Transport;
  open(place: Place): Promise<RealClient>;
  readonly empty?: EmptyCells;
  /** Said beside an operation that is shown, where it is done in an unusual way. */
  readonly notes?: Readonly<Partial<Record<Operation, string>>>;
  /** Why this client cannot run on the Node.js that runs the tests; undefined when it can. */
  readonly cannotRun?: () => string | undefined;
}

/** A row as people name it. */
export const rowName = ({ client, era, transport }: ClientRow): string =>
  `${client}, ${era}, ${transport}`;
