import type { RpcError } from '../../../protocol/model.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { hasEnvelope } from '../generation-2026/envelope.ts';
import { readJsonText } from '../json-text.ts';
import {
  readMessage,
  requestIdOf,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
} from '../message.ts';
import { responseOf } from '../reply.ts';
import type { LineHandlers } from './lines.ts';
import type { Pipe } from './pipe.ts';
import type { StdioModern } from './stdio-modern.ts';
import type { StdioSession } from './stdio-session.ts';

export interface ReceiveOptions {
  readonly pipe: Pipe;
  readonly modern: StdioModern;
  readonly session: StdioSession;
  readonly maxBytes: number;
  /** Why a status read is not answered now, if it is not. */
  readonly tooManyReads: (request: RpcRequest) => RpcError | undefined;
  /** Hears of every request that was taken up. */
  readonly onServing: (served: Promise<void>) => void;
}

const parseError = (message: string): RpcError => ({ code: RPC_CODES.parseError, message });
const invalid = (problem: string): RpcError => ({
  code: RPC_CODES.invalidRequest,
  message: `invalid request: ${problem}`,
});

const cancelledId = ({ method, params: { requestId } }: RpcNotification): RpcId | undefined =>
  method === 'notifications/cancelled' &&
  (typeof requestId === 'string' || typeof requestId === 'number')
    ? requestId
    : undefined;

/** An id as it stands in a line that nobody has read. */
function readId(json: string): RpcId | undefined {
  try {
    const id: unknown = JSON.parse(json);
    return typeof id === 'string' || typeof id === 'number' ? id : undefined;
  } catch {
    return undefined;
  }
}

/** `server/discover` exists in 2026-07-28 only: without its `_meta` it is a probe that forgot it. */
const isModern = ({ method, params }: RpcRequest): boolean =>
  hasEnvelope(params) || method === 'server/discover';

/**
 * Takes one line at a time to whom it belongs: a request with the `_meta` of 2026-07-28 stands alone, everything else is
 * the session's. A line that cannot be read is answered, and the next one is read.
 */
export function receiveLines(options: ReceiveOptions): Pick<LineHandlers, 'line' | 'bad'> {
  const { pipe, modern, session } = options;
  const refuse = (error: RpcError, id: RpcId | null = null): void =>
    void pipe.write(responseOf(id, { kind: 'error', error }));
  const receive = (message: RpcMessage): void => {
    switch (message.kind) {
      case 'request': {
        const tooMany = options.tooManyReads(message);
        if (tooMany) return refuse(tooMany, message.id);
        return options.onServing((isModern(message) ? modern : session).serve(message));
      }
      case 'response':
        return session.responded(message);
      case 'invalid':
        return refuse(invalid(message.problem), message.id);
      case 'notification': {
        const id = cancelledId(message);
        if (id === undefined || !modern.cancel(id)) session.notified(message);
      }
    }
  };
  const receiveBatch = (values: readonly unknown[]): void => {
    if (values.length === 0 || !session.takesBatches())
      return refuse(invalid('batches are no part of this revision'));
    for (const value of values) receive(readMessage(value));
  };
  return {
    line(text) {
      const json = readJsonText(text);
      if (json.kind === 'malformed') return refuse(parseError('the line is no JSON'));
      if (json.kind === 'unsafe') return refuse(invalid(json.problem), requestIdOf(json.value));
      if (Array.isArray(json.value)) receiveBatch(json.value);
      else receive(readMessage(json.value));
    },
    bad(bad) {
      if (bad.why === 'not_utf8') return refuse(parseError('the line is no UTF-8 text'));
      const tooLong = invalid(`a line has at most ${options.maxBytes} bytes`);
      const ids = bad.ids.map(readId).filter((id) => id !== undefined);
      if (ids.length === 0) return refuse(tooLong);
      for (const id of ids) refuse(tooLong, id);
    },
  };
}
