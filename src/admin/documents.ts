/**
 * What the admin API answers, as JSON: times are RFC 3339 in UTC, an absent value is `null`, ids are whole. Never
 * arguments, results, questions or answers; a result's body has a document of its own, whose reading is recorded.
 */
import { toIso } from '../kernel/clock.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Operation, OperationState } from '../ledger/operation.ts';
import { FIELD_CLASSES, GENERATIONS, endingOf, expiresAt } from '../protocol/model.ts';
import type {
  CallOrigin,
  EffectClass,
  ExpiryOutcome,
  FieldClass,
  Generation,
  HandleState,
  InputMethod,
  InputPolicy,
  InputRequest,
  InputState,
  Outcome,
  Task,
  TaskEnding,
  TaskPhase,
  TaskStatus,
} from '../protocol/model.ts';
import { statusOf } from '../protocol/task-machine.ts';
import type { Attempt, AttemptState } from '../stores/attempts.ts';
import type { StoredEvent } from '../stores/events.ts';
import { operationSideOf, readingOf, taskSideOf } from '../runtime/two-answers.ts';
import type { NamedReading } from '../runtime/two-answers.ts';

/** Where the API lives; a change that breaks a reader gets a new number here too. */
export const API_PATH = '/admin/v1';

/** Grows when a member changes its meaning or goes away; new members may come at any time. */
export const SCHEMA_VERSION = 1;

/** A document on its own, as it goes over the wire. */
export type Versioned<T> = T & { readonly schemaVersion: number };
export const versioned = <T extends object>(document: T): Versioned<T> => ({
  schemaVersion: SCHEMA_VERSION,
  ...document,
});

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** The protocol's column: one record, read by either generation. */
export interface ProtocolDocument {
  readonly phase: TaskPhase;
  readonly ending: TaskEnding | null;
  readonly status: Readonly<Record<Generation, TaskStatus>>;
}

export interface OperationReference {
  readonly id: string;
  readonly state: OperationState;
  readonly reason: string | null;
}

export interface TaskDocument {
  readonly id: string;
  readonly revision: number;
  readonly tenant: string;
  /** The binding key of whoever created it. */
  readonly owner: string;
  readonly origin: CallOrigin;
  readonly handle: HandleState;
  readonly upstream: string;
  readonly tool: string;
  readonly effect: EffectClass;
  readonly protocol: ProtocolDocument;
  readonly outcome: NamedReading;
  readonly operation: OperationReference | null;
  readonly message: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly cancelRequestedAt: string | null;
  readonly pollIntervalMs: number;
}

function protocolDocument(task: Pick<Task, 'phase' | 'ending'>): ProtocolDocument {
  const [older, newer] = GENERATIONS;
  return {
    phase: task.phase,
    ending: task.ending ?? null,
    status: { [older]: statusOf(task, older), [newer]: statusOf(task, newer) },
  };
}

const isoOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : toIso(ms));

const operationReference = (operation: Operation): OperationReference => ({
  id: operation.id,
  state: operation.state,
  reason: operation.reason ?? null,
});

/** Both columns of a task. `operation` is its row in the ledger, where there is one. */
export function taskDocument(task: Task, operation: Operation | undefined): TaskDocument {
  return {
    id: task.id,
    revision: task.revision,
    tenant: task.tenant,
    owner: task.owner,
    origin: task.origin,
    handle: task.handle,
    upstream: task.upstream,
    tool: task.tool,
    effect: task.effect,
    protocol: protocolDocument(task),
    outcome: readingOf(taskSideOf(task), operationSideOf(task, operation)),
    operation: operation === undefined ? null : operationReference(operation),
    message: task.message ?? null,
    createdAt: toIso(task.createdAt),
    updatedAt: toIso(task.updatedAt),
    expiresAt: toIso(expiresAt(task)),
    cancelRequestedAt: isoOrNull(task.cancelRequestedAt),
    pollIntervalMs: task.pollIntervalMs,
  };
}

export interface AttemptDocument {
  readonly number: number;
  readonly state: AttemptState;
  readonly epoch: number;
  /** Boot id of the process that holds or held it. */
  readonly owner: string | null;
  readonly leaseUntil: string | null;
  /** When the first byte was about to go upstream; `null`: nothing was sent. */
  readonly dispatchedAt: string | null;
  /** Whether it observes a task of the upstream's; its id never leaves. */
  readonly observesUpstreamTask: boolean;
}

export const attemptDocument = (attempt: Attempt): AttemptDocument => ({
  number: attempt.number,
  state: attempt.state,
  epoch: attempt.epoch,
  owner: attempt.owner ?? null,
  leaseUntil: isoOrNull(attempt.leaseUntil),
  dispatchedAt: isoOrNull(attempt.dispatchedAt),
  observesUpstreamTask: attempt.upstreamTask !== undefined,
});

/** A question without its content: who is asked what stays between the task and its owner. */
export interface InputDocument {
  readonly key: string;
  readonly method: InputMethod;
  readonly state: InputState;
  /** `form`, `url`, or nothing where it is no elicitation. */
  readonly mode: 'form' | 'url' | null;
  /** What its fields hold, without their names; never what was answered. */
  readonly classes: readonly FieldClass[];
  readonly onExpiry: ExpiryOutcome;
  readonly askedAt: string;
  readonly expiresAt: string;
}

function modeOf({ method, params }: InputRequest): InputDocument['mode'] {
  if (method !== 'elicitation/create') return null;
  return params['mode'] === 'url' ? 'url' : 'form';
}

/** What says nothing of its fields is taken for personal. */
function classesOf(policy: InputPolicy | undefined): readonly FieldClass[] {
  const named = Object.values(policy?.fields ?? {});
  return named.length === 0 ? ['personal'] : FIELD_CLASSES.filter((each) => named.includes(each));
}

export const inputDocument = (input: InputRequest): InputDocument => ({
  key: input.key,
  method: input.method,
  state: input.state,
  mode: modeOf(input),
  classes: classesOf(input.policy),
  onExpiry: input.policy?.onExpiry ?? 'fail',
  askedAt: toIso(input.askedAt),
  expiresAt: toIso(input.expiresAt),
});

export interface EventDocument {
  readonly id: string;
  readonly sequence: number;
  readonly at: string;
  readonly type: string;
  readonly tenant: string;
  readonly actor: string;
  readonly taskId: string | null;
  readonly operationId: string | null;
  readonly reason: string | null;
}

export const eventDocument = (event: StoredEvent): EventDocument => ({
  id: event.id,
  sequence: event.sequence,
  at: toIso(event.at),
  type: event.type,
  tenant: event.tenant,
  actor: event.actor,
  taskId: event.taskId ?? null,
  operationId: event.operationId ?? null,
  reason: event.reason ?? null,
});

export interface TaskDetail extends TaskDocument {
  readonly attempts: readonly AttemptDocument[];
  /** Those that wait for an answer, and for their page. */
  readonly inputs: readonly InputDocument[];
  readonly events: readonly EventDocument[];
}

export interface OperationDocument {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly upstream: string;
  readonly tool: string;
  readonly effect: Operation['effect'];
  readonly state: OperationState;
  readonly reason: string | null;
  readonly argumentsDigest: string;
  readonly taskId: string;
  /** The task that started it; `null` once its record has expired. An operation outlives its task. */
  readonly protocol: ProtocolDocument | null;
  readonly outcome: NamedReading;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly dispatchedAt: string | null;
}

export function operationDocument(operation: Operation, task: Task | undefined): OperationDocument {
  return {
    id: operation.id,
    tenant: operation.tenant,
    owner: operation.owner,
    upstream: operation.upstream,
    tool: operation.tool,
    effect: operation.effect,
    state: operation.state,
    reason: operation.reason ?? null,
    argumentsDigest: operation.argumentsDigest,
    taskId: operation.taskId,
    protocol: task === undefined ? null : protocolDocument(task),
    outcome: readingOf(taskSideOf(task), operation.state),
    createdAt: toIso(operation.createdAt),
    updatedAt: toIso(operation.updatedAt),
    dispatchedAt: isoOrNull(operation.dispatchedAt),
  };
}

/** The stored outcome of an ended task, with both columns beside it. */
export interface ResultDocument {
  readonly task: TaskDocument;
  readonly ending: TaskEnding;
  /** The tool's result as the upstream gave it; `null` where there is none. */
  readonly result: JsonObject | null;
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json } | null;
}

export const resultDocument = (task: TaskDocument, outcome: Outcome): ResultDocument => ({
  task,
  ending: endingOf(outcome),
  result: outcome.kind === 'result' ? outcome.result : null,
  error: outcome.kind === 'error' ? outcome.error : null,
});
