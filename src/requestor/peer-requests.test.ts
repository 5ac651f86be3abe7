import { describe, expect, test } from 'vitest';
import { createDeferred } from '../kernel/deferred.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { InputAnswer } from '../protocol/model.ts';
import { verifies } from '../../test/requirements/verifies.ts';
import { createAttendanceBook, type Attendance, type Attendant } from './attendance.ts';
import type { PeerGeneration } from './connection.ts';
import { answerQuestions } from './peer-requests.ts';
import type { RpcId } from './rpc-message.ts';
import type { Wire } from './wire.ts';

const RELATED = 'io.modelcontextprotocol/related-task';

/** One connection with the calls under way on it; `streams` says whose stream a request id is. */
function connection(generation: PeerGeneration = '2025-11-25') {
  const sent: JsonObject[] = [];
  const book = createAttendanceBook();
  const streams = new Map<RpcId, Attendance>();
  const wire = { send: (message: JsonObject) => Promise.resolve(void sent.push(message)) };
  const questions = answerQuestions({
    wire: wire as unknown as Wire,
    generation,
    book,
    ownerOf: (via) => (via === undefined ? undefined : book.at(streams.get(via))),
  });
  const enter = (name: string, but: Partial<Attendant> = {}): Attendance =>
    book.enter({
      ask: () =>
        Promise.resolve({ kind: 'result', result: { action: 'accept', content: { by: name } } }),
      progress: () => undefined,
      log: () => undefined,
      nudge: () => undefined,
      ...but,
    });
  const ask = (id: RpcId, params: JsonObject = {}, via?: RpcId) =>
    questions.hear({ id, method: 'elicitation/create', params }, via);
  return { sent, book, streams, questions, enter, ask };
}

const settled = () => new Promise((resolve) => void setImmediate(resolve));
const answeredBy = (name: string) => ({ action: 'accept', content: { by: name } });

describe('a question of the peer', () => {
  test('on the stream of a call is that call’s, however many there are', async () => {
    const { sent, streams, enter, ask } = connection();
    enter('a');
    streams.set('rb', enter('b'));
    ask(1, {}, 'rb');
    await settled();
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: answeredBy('b') }]);
  });

  test('is the only call’s where there is only one', async () => {
    const { sent, enter, ask } = connection();
    enter('gone').leave();
    enter('a');
    ask(1);
    await settled();
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: answeredBy('a') }]);
  });

  test('that could be anybody’s, or nobody’s, is declined', async () => {
    const { sent, enter, ask } = connection();
    ask(1);
    enter('a');
    enter('b');
    ask(2);
    ask(3, {}, 'the stream of our own housekeeping');
    await settled();
    const declined = { code: -32_600, data: { reason: 'unattributed' } };
    expect(sent).toMatchObject([1, 2, 3].map((id) => ({ id, error: declined })));
  });

  verifies(
    ['G1-134', 'G1-139'],
    'that names a task is the call’s that observes it, and the answer names it too',
    async () => {
      const { sent, enter, ask } = connection();
      enter('a');
      enter('b').observe('task-b');
      ask(1, { _meta: { [RELATED]: { taskId: 'task-b' } } });
      await settled();
      const _meta = { [RELATED]: { taskId: 'task-b' } };
      expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, result: { ...answeredBy('b'), _meta } }]);
    },
  );

  verifies(
    'T10',
    'that names a task of another call than its stream’s reaches neither',
    async () => {
      const { sent, streams, enter, ask } = connection();
      streams.set('ra', enter('a'));
      enter('b').observe('task-b');
      ask(1, { _meta: { [RELATED]: { taskId: 'task-b' } } }, 'ra');
      await settled();
      expect(sent).toMatchObject([{ id: 1, error: { data: { reason: 'unattributed' } } }]);
    },
  );

  test('reaches its owner without what belongs to the peer’s hop', async () => {
    const seen: unknown[] = [];
    const { enter, ask } = connection();
    enter('a', {
      ask: ({ params }) => {
        seen.push(params);
        return Promise.resolve({ kind: 'result', result: {} });
      },
    });
    ask(1, {
      message: 'x',
      task: { ttl: 1 },
      _meta: { [RELATED]: { taskId: 't' }, 'com.example/a': 1 },
    });
    await settled();
    expect(seen).toEqual([{ message: 'x', _meta: { 'com.example/a': 1 } }]);
  });

  test('that is taken back gets no answer any more', async () => {
    const answer = createDeferred<InputAnswer>();
    const { sent, questions, enter, ask } = connection();
    let taken: AbortSignal | undefined;
    enter('a', {
      ask: (_question, signal) => {
        taken = signal;
        return answer.promise;
      },
    });
    ask(1);
    questions.takeBack(1);
    expect(taken?.aborted).toBe(true);
    answer.resolve({ kind: 'result', result: {} });
    await settled();
    expect(sent).toEqual([]);
  });

  test('whose owner breaks is answered with an error, not with silence', async () => {
    const { sent, enter, ask } = connection();
    enter('a', { ask: () => Promise.reject(new Error('broken')) });
    ask(1);
    await settled();
    expect(sent).toMatchObject([{ id: 1, error: { code: -32_603 } }]);
  });
});

test('a ping is answered, an unknown method refused', () => {
  const { sent, questions } = connection();
  questions.hear({ id: 1, method: 'ping', params: {} }, undefined);
  questions.hear({ id: 2, method: 'com.example/x', params: {} }, undefined);
  expect(sent).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { code: -32_601 } },
  ]);
});

verifies('G2-60', 'on 2026-07-28 nothing is ever answered in this direction', async () => {
  const { sent, questions, enter, ask } = connection('2026-07-28');
  enter('a');
  ask(1);
  questions.hear({ id: 2, method: 'ping', params: {} }, undefined);
  await settled();
  expect(sent).toEqual([]);
});
