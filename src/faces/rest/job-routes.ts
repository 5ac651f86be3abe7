import type { JsonObject } from '../../kernel/json.ts';
import type { Started } from '../../runtime/receiver.ts';
import { conflictWords, knownWords } from '../../runtime/idempotency/repeat-words.ts';
import { decideCall } from '../../runtime/modes.ts';
import type { ServedTool } from '../../runtime/tool.ts';
import { operationSideOf, readingOf } from '../../runtime/two-answers.ts';
import { readInputResponses } from '../mcp/input-responses.ts';
import type { Delivery } from '../mcp/reply.ts';
import {
  answeredDocument,
  cancelledDocument,
  etagOf,
  jobDocument,
  listDocument,
  resultDocument,
  type Looked,
} from './documents.ts';
import { draining, noSuchJob, refusing, stillRunning, usage } from './problems.ts';
import { defineRoute, type RestAnswer, type RestRoute, type RestVisit } from './route.ts';
import {
  answeredSchema,
  answersSchema,
  cancelledSchema,
  jobSchema,
  listQuerySchema,
  listSchema,
  noQuerySchema,
  resultSchema,
  startSchema,
  waitQuerySchema,
} from './schemas.ts';

/** The job with its operation, or the answer that every id gets which is not the caller's. */
async function look({ face, principal }: RestVisit, id: string): Promise<Looked> {
  const view = await face.receiver.view(principal, id, false);
  if (!view) throw noSuchJob();
  return { view, operation: await face.receiver.operation(principal, id) };
}

const secondsOf = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));

/** Whoever has read a job's id has its handle; whoever has read its result has its outcome. */
const onWritten =
  (note: () => void): ((delivery: Delivery) => void) =>
  (delivery) => {
    if (delivery === 'written') note();
  };

function statusAnswer(visit: RestVisit, looked: Looked, status = 200): RestAnswer {
  const { task } = looked.view;
  const open = task.phase !== 'ended';
  return {
    status,
    document: jobDocument(looked),
    headers: {
      etag: etagOf(looked),
      ...(open ? { 'retry-after': secondsOf(task.pollIntervalMs) } : {}),
    },
    onDelivery: onWritten(() => {
      if (task.handle !== 'given') visit.face.handles.given(task.id);
    }),
  };
}

function toolOf({ face }: RestVisit, name: string): ServedTool {
  const tool = face.surface.tool(name);
  if (!tool)
    throw refusing('LONGCALL_TOOL_UNKNOWN', 'there is no such tool', {
      hint: 'list the tools over MCP; with several upstreams each name has a prefix',
    });
  const decision = decideCall(tool.mode, 'rest');
  face.routes.add({ route: decision.kind, reason: `${tool.mode}:rest` });
  if (decision.kind !== 'refuse') return tool;
  const words =
    decision.reason === 'policy'
      ? 'policy refuses calls of this tool'
      : `this tool is served as ${tool.mode} and makes no jobs`;
  throw refusing('LONGCALL_REFUSED_BY_POLICY', words, {
    hint:
      decision.reason === 'policy'
        ? 'ask the operator of this gateway'
        : 'call it over MCP, or set its mode to task-optional',
  });
}

/** Several headers of one name come joined by commas: which of them was meant nobody can know. */
function keyInHeader(visit: RestVisit): string | undefined {
  const given = visit.header('idempotency-key');
  if (given?.includes(','))
    throw usage(
      'the header Idempotency-Key stands twice, or has a comma: say it in idempotencyKey',
    );
  return given?.replace(/^"(.*)"$/, '$1'); // a structured field has its text in quotes
}

/** The key of the body and of the header are the same thing said twice; two different ones are a mistake. */
function keyOf(visit: RestVisit, inBody: string | undefined): string | undefined {
  const inHeader = keyInHeader(visit);
  if (inBody !== undefined && inHeader !== undefined && inBody !== inHeader)
    throw usage('idempotencyKey and the header Idempotency-Key differ');
  return inBody ?? inHeader;
}

type NotStarted = Exclude<Started, { readonly kind: 'started' }>;

function refuseStart(started: NotStarted): never {
  switch (started.kind) {
    case 'full': {
      const { limit, retryAfterMs } = started;
      throw refusing('LONGCALL_CAPACITY', `too much is open (${limit}): nothing was started`, {
        data: { limit, retryAfterMs },
      });
    }
    case 'draining':
      throw draining();
    case 'bad_key':
      throw refusing('LONGCALL_IDEMPOTENCY_KEY_INVALID', started.problem);
    case 'bad_arguments':
      throw usage(`${started.problem}; nothing was started`);
    case 'conflict': {
      const { operationId } = started;
      throw refusing('LONGCALL_IDEMPOTENCY_CONFLICT', conflictWords(operationId), {
        data: operationId === undefined ? {} : { operationId },
      });
    }
    case 'known': {
      const { id, state, effect } = started.operation;
      const outcome = readingOf('expired', operationSideOf({ effect, operationId: id }, { state }));
      throw refusing('LONGCALL_ALREADY_CALLED', knownWords(started.operation, started.by), {
        hint: `calling it again: ${outcome.advice}`,
        data: { operationId: id, operationState: state, outcome: outcome.name },
      });
    }
  }
}

async function waitFor(visit: RestVisit, id: string, forMs: number): Promise<void> {
  const { face, principal, signal } = visit;
  if (forMs > 0) await face.receiver.wait(principal, id, { forMs, signal, untilAsked: true });
}

const start = defineRoute({
  method: 'POST',
  path: '/jobs',
  operationId: 'startJob',
  summary: 'Starts a tool call, and waits a moment for its end if that is wanted.',
  scope: 'tool.call',
  query: noQuerySchema,
  body: { schema: startSchema },
  headers: { 'Idempotency-Key': 'Says the same as idempotencyKey.' },
  answers: { 200: jobSchema, 202: jobSchema },
  refuses: [400, 401, 403, 409, 410, 413, 415, 422, 429, 503],
  async handle(visit) {
    const { face, principal, body } = visit;
    const key = keyOf(visit, body.idempotencyKey);
    const started = await face.receiver.start({
      principal,
      tool: toolOf(visit, body.tool),
      arguments: body.arguments as JsonObject,
      meta: {},
      origin: 'job',
      asks: body.asks,
      ...(key === undefined ? {} : { idempotencyKey: key }),
      ...(body.newOperation === undefined ? {} : { newOperation: body.newOperation }),
    });
    if (started.kind !== 'started') return refuseStart(started);
    const { id } = started.task;
    await waitFor(visit, id, body.waitMs);
    const looked = await look(visit, id);
    const answer = statusAnswer(visit, looked, looked.view.task.phase === 'ended' ? 200 : 202);
    return {
      ...answer,
      document: jobDocument(looked, started.deduplicated),
      headers: { ...answer.headers, location: `/jobs/${id}` },
    };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/jobs/{id}',
  operationId: 'getJob',
  summary: 'Reads how a job stands.',
  scope: 'task.read',
  query: noQuerySchema,
  headers: { 'If-None-Match': 'The ETag of an earlier answer: 304 where nothing has changed.' },
  answers: { 200: jobSchema, 304: undefined },
  refuses: [400, 401, 403, 404, 429, 503],
  async handle(visit) {
    const looked = await look(visit, visit.id);
    const answer = statusAnswer(visit, looked);
    const { document: _, ...unchanged } = answer;
    const known = visit.header('if-none-match')?.split(/,\s*/).includes(etagOf(looked));
    return known === true ? { ...unchanged, status: 304 } : answer;
  },
});

const wait = defineRoute({
  method: 'GET',
  path: '/jobs/{id}/wait',
  operationId: 'waitForJob',
  summary: 'Waits until a job has ended or asks something, at most forMs, and reads how it stands.',
  scope: 'task.read',
  query: waitQuerySchema,
  answers: { 200: jobSchema },
  refuses: [400, 401, 403, 404, 429, 503],
  async handle(visit) {
    await look(visit, visit.id);
    await waitFor(visit, visit.id, visit.query.forMs);
    return statusAnswer(visit, await look(visit, visit.id));
  },
});

const result = defineRoute({
  method: 'GET',
  path: '/jobs/{id}/result',
  operationId: 'readResult',
  summary: 'Reads what an ended job came to.',
  scope: 'task.result',
  query: noQuerySchema,
  answers: { 200: resultSchema },
  refuses: [400, 401, 403, 404, 409, 429, 503],
  async handle(visit) {
    const { face, principal, id } = visit;
    const view = await face.receiver.view(principal, id, true);
    if (!view) throw noSuchJob();
    if (view.outcome === undefined) throw stillRunning(view.task.pollIntervalMs);
    const operation = await face.receiver.operation(principal, id);
    return {
      status: 200,
      document: resultDocument({ view, operation }, view.outcome),
      onDelivery: onWritten(() => face.handles.delivered(id)),
    };
  },
});

const answer = defineRoute({
  method: 'POST',
  path: '/jobs/{id}/answers',
  operationId: 'answerJob',
  summary: 'Answers open questions in the name of their owner. The first answer of a key counts.',
  scope: 'task.answer',
  query: noQuerySchema,
  body: { schema: answersSchema },
  answers: { 200: answeredSchema },
  refuses: [400, 401, 403, 404, 413, 415, 422, 503],
  async handle({ face, principal, id, body }) {
    const { answers } = readInputResponses(body.answers);
    const answered = await face.receiver.answer(principal, id, answers);
    if (answered.kind === 'missing') throw noSuchJob();
    if (answered.kind === 'malformed')
      throw refusing('LONGCALL_ANSWER_INVALID', `nothing was taken: ${answered.problem}`, {
        data: { key: answered.key },
      });
    return { status: 200, document: answeredDocument(answered) };
  },
});

const cancel = defineRoute({
  method: 'POST',
  path: '/jobs/{id}/cancel',
  operationId: 'cancelJob',
  summary: 'Tells a job to stop.',
  scope: 'task.cancel',
  query: noQuerySchema,
  body: { schema: noQuerySchema, optional: true },
  answers: { 200: cancelledSchema },
  refuses: [400, 401, 403, 404, 413, 415, 503],
  async handle({ face, principal, id }) {
    const cancelled = await face.receiver.cancel(principal, id, 'cooperative');
    if (cancelled.kind === 'missing') throw noSuchJob();
    const operation = await face.receiver.operation(principal, id);
    const looked = { view: cancelled.view, operation };
    return { status: 200, document: cancelledDocument(cancelled.kind, looked) };
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/jobs',
  operationId: 'listJobs',
  summary: 'Lists the caller’s jobs, newest first. Needs an identity.',
  scope: 'task.list',
  query: listQuerySchema,
  answers: { 200: listSchema },
  refuses: [400, 401, 403, 429, 503],
  async handle({ face, principal, query }) {
    const listed = await face.receiver.list(principal, query.cursor);
    if (listed.kind === 'bad_cursor')
      throw usage('the cursor is not one of this list, or not yours');
    const { tasks, nextCursor } = listed.page;
    const jobs = await Promise.all(
      tasks.map(async (task) => ({
        task,
        operation: await face.receiver.operation(principal, task.id),
      })),
    );
    return { status: 200, document: listDocument(jobs, nextCursor) };
  },
});

export const JOB_ROUTES: readonly RestRoute[] = [start, list, get, wait, result, answer, cancel];
