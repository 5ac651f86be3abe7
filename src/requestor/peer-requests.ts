import { objectAt, stringAt, type Json, type JsonObject } from '../kernel/json.ts';
import {
  INPUT_METHODS,
  type InputAnswer,
  type InputMethod,
  type RpcError,
} from '../protocol/model.ts';
import { RELATED_TASK_META, RPC_CODES } from '../protocol/names.ts';
import { withMeta } from '../protocol/result-meta.ts';
import type { AttendanceBook, Attendant } from './attendance.ts';
import type { PeerGeneration } from './connection.ts';
import { passingMeta } from './envelope.ts';
import { isRpcId, type RpcId } from './rpc-message.ts';
import { readableQuestion } from './question-text.ts';
import { formRefusal, type FormRefusal } from './secret-forms.ts';
import type { Wire } from './wire.ts';

export interface QuestionContext {
  readonly wire: Wire;
  readonly generation: PeerGeneration;
  readonly book: AttendanceBook;
  /** The call on whose stream something came. */
  ownerOf(via: RpcId | undefined): Attendant | undefined;
}

interface PeerCall {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** Requests of the peer: each belongs to one call of ours, or is refused. */
export interface Questions {
  hear(call: PeerCall, via: RpcId | undefined): void;
  /** The peer no longer wants an answer to that request of its own. */
  takeBack(requestId: Json | undefined): void;
  /** Nobody can be answered any more. */
  end(): void;
}

const isInputMethod = (method: string): method is InputMethod =>
  (INPUT_METHODS as readonly string[]).includes(method);

const UNKNOWN_METHOD: RpcError = { code: RPC_CODES.methodNotFound, message: 'Method not found' };

const FAILED: InputAnswer = {
  kind: 'error',
  error: { code: RPC_CODES.internalError, message: 'the question could not be passed on' },
};

/** Decision 8: what can't be attributed is declined, so that no question reaches the wrong person. */
const UNATTRIBUTED: RpcError = {
  code: RPC_CODES.invalidRequest,
  message:
    'this request belongs to no call in progress; ask while a call runs, on that call’s own stream or connection',
  data: { reason: 'unattributed' },
};

const refusedForm = ({ reason, message }: FormRefusal): RpcError => ({
  code: RPC_CODES.invalidParams,
  message,
  data: { reason },
});

export function answerQuestions({ wire, generation, book, ownerOf }: QuestionContext): Questions {
  const open = new Map<RpcId, AbortController>();
  const respond = (id: RpcId, answer: InputAnswer): void => {
    const body =
      answer.kind === 'result' ? { result: answer.result } : { error: errorOf(answer.error) };
    wire.send({ jsonrpc: '2.0', id, ...body }).catch(() => undefined); // a connection that broke shows elsewhere
  };
  const ask = async (
    attendant: Attendant,
    method: InputMethod,
    { id, params }: PeerCall,
  ): Promise<void> => {
    const control = new AbortController();
    open.set(id, control);
    const question = { method, params: readableQuestion(method, withoutReserved(params)) };
    const answer = await attendant.ask(question, control.signal).catch((): InputAnswer => FAILED);
    open.delete(id);
    if (!control.signal.aborted) respond(id, aboutTask(params, answer));
  };
  const attendantFor = ({ params }: PeerCall, via: RpcId | undefined): Attendant | undefined => {
    const named = book.ofTask(relatedTask(params));
    const streamed = ownerOf(via);
    // A task id that contradicts the stream may be forged; it must not reroute an answer (T10).
    if (named && streamed && named !== streamed) return undefined;
    return streamed ?? named ?? (via === undefined ? book.sole() : undefined);
  };
  return {
    hear(call, via) {
      // 2026-07-28 has no requests in this direction, and a client must not answer one (G2-60).
      if (generation === '2026-07-28') return;
      if (call.method === 'ping') return respond(call.id, { kind: 'result', result: {} });
      if (!isInputMethod(call.method))
        return respond(call.id, { kind: 'error', error: UNKNOWN_METHOD });
      const refusal = formRefusal(call.method, call.params);
      if (refusal) return respond(call.id, { kind: 'error', error: refusedForm(refusal) });
      const attendant = attendantFor(call, via);
      if (attendant) void ask(attendant, call.method, call);
      else respond(call.id, { kind: 'error', error: UNATTRIBUTED });
    },
    takeBack: (requestId) => (isRpcId(requestId) ? open.get(requestId)?.abort() : undefined),
    end: () => open.forEach((control) => control.abort()),
  };
}

const errorOf = ({ code, message, data }: RpcError): JsonObject =>
  data === undefined ? { code, message } : { code, message, data };

const relatedTask = (params: JsonObject): string | undefined =>
  stringAt(objectAt(objectAt(params, '_meta'), RELATED_TASK_META), 'taskId');

/** The answer to a task's question says which task it is about (G1-134). */
function aboutTask(params: JsonObject, answer: InputAnswer): InputAnswer {
  const taskId = relatedTask(params);
  if (taskId === undefined || answer.kind === 'error') return answer;
  return { kind: 'result', result: withMeta(answer.result, { [RELATED_TASK_META]: { taskId } }) };
}

/** The params as they may be shown to our caller: the peer's task ids never leave (decision 17). */
function withoutReserved(params: JsonObject): JsonObject {
  const { _meta: meta, task: _task, ...rest } = params;
  const passing = passingMeta(objectAt({ meta }, 'meta') ?? {});
  return Object.keys(passing).length === 0 ? rest : { ...rest, _meta: passing };
}
