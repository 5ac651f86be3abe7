import type { Channel, Message } from '../channel.ts';
import { after, defineCheck, eventually, must, mustEqual, newTag } from '../check.ts';
import type { Session2025 } from '../client.ts';
import { openSession, replyOf } from '../client.ts';
import {
  asks,
  createTask,
  distinct,
  getTask2025,
  isRequest,
  mustHaveStatus,
  mustRefuse,
  objectAt,
  reaches2025,
  relatedTask,
  resultOf,
  tells,
  TERMINAL,
  textOf,
} from '../steps.ts';

const QUIET_MS = 700;
const YES = { action: 'accept', content: { confirm: true } };

/** The questions of one task on these channels; those of others may come by, too. */
const questionsOf = (taskId: unknown, ...channels: readonly Channel[]): Message[] =>
  distinct(channels.flatMap(({ received }) => received))
    .filter(asks('elicitation/create'))
    .filter((message) => relatedTask(message['params']) === taskId);

/** Creates a task that asks and opens the stream on which its question comes; over a pipe it comes as soon as it is asked. */
async function askingTask(
  session: Session2025,
): Promise<{ taskId: unknown; filename: string; stream: Channel & { id: string } }> {
  const filename = newTag('file');
  const pipe = session.isPipe ? await session.listen() : undefined;
  const { taskId } = await createTask(session, 'confirm_delete', { args: { filename } });
  await reaches2025(session, taskId, 'input_required');
  const opened = await session.open('tasks/result', { taskId });
  return { taskId, filename, stream: pipe ? { ...pipe, id: opened.id } : opened };
}

const question = (channel: Channel): Promise<Message> =>
  channel.waitFor(asks('elicitation/create'), 'elicitation/create');

/** Input in the middle of a task of 2025-11-25. */
export const INPUT_2025 = [
  defineCheck(
    {
      id: '2025-question-on-result-stream',
      requirements: ['G1-42', 'G1-43', 'G1-45', 'G1-134', 'G1-139', 'T3'],
      title: 'a task asks on the stream of tasks/result, names itself, and goes on with the answer',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId, filename, stream } = await askingTask(session);
      const asked = await question(stream);
      mustEqual(relatedTask(asked['params']), taskId, 'the related task of the question');
      must(
        String(objectAt(asked, 'params')['message']).includes(filename),
        'the message of the question',
      );
      mustHaveStatus(await session.respond(asked, YES), 202, 'the HTTP status of an answer');
      const reply = await replyOf(stream, stream.id);
      mustEqual(textOf(reply.result), `Deleted ${filename}`, 'the result');
      mustEqual((await getTask2025(session, taskId))['status'], 'completed', 'the status');
    },
  ),
  defineCheck(
    {
      id: '2025-question-on-get-stream',
      requirements: ['G1-43', 'G1-139', 'T3'],
      title: 'where nobody waits for the result, a task asks on the standalone stream',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const stream = await session.listen();
      const filename = newTag('file');
      const { taskId } = await createTask(session, 'confirm_delete', { args: { filename } });
      const ours = (message: Message): boolean =>
        asks('elicitation/create')(message) && relatedTask(message['params']) === taskId;
      const asked = await stream.waitFor(ours, 'elicitation/create of this task');
      await session.respond(asked, YES);
      await reaches2025(session, taskId, 'completed');
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2025-one-question-at-a-time',
      requirements: ['T3', 'G1-84'],
      title: 'a question is out once, however many streams are open',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const standalone = await session.listen();
      const { taskId, stream } = await askingTask(session);
      const second = await session.open('tasks/result', { taskId });
      await eventually(
        () => questionsOf(taskId, standalone, stream, second)[0],
        'the question on any stream',
      );
      await after(QUIET_MS);
      mustEqual(
        questionsOf(taskId, standalone, stream, second).length,
        1,
        'the number of questions',
      );
      await session.request('tasks/cancel', { taskId });
      for (const channel of [standalone, stream, second]) channel.close();
    },
  ),
  defineCheck(
    {
      id: '2025-question-comes-again',
      requirements: ['T4', 'G1-43'],
      title:
        'a question whose stream broke comes again with a new id, and only that one is answered',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId, filename, stream } = await askingTask(session);
      const first = await question(stream);
      stream.close();
      const again = await eventually(async () => {
        const next = await session.open('tasks/result', { taskId });
        const found = await Promise.race([question(next).catch(() => undefined), after(QUIET_MS)]);
        if (found) return { next, asked: found };
        next.close();
        return undefined;
      }, 'the question on a new stream');
      must(again.asked['id'] !== first['id'], 'the question came again under the id of the first');
      await session.respond(first, { action: 'decline' });
      await after(QUIET_MS);
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'input_required',
        'the status after a late answer',
      );
      await session.respond(again.asked, YES);
      const reply = await replyOf(again.next, again.next.id);
      mustEqual(textOf(reply.result), `Deleted ${filename}`, 'the result');
    },
  ),
  defineCheck(
    {
      id: '2025-two-questions',
      requirements: ['G1-42', 'G1-45'],
      title: 'a task with two questions stays input_required until both are answered',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'multi_input');
      const stream = await session.open('tasks/result', { taskId });
      const [first, second] = await eventually(() => {
        const found = questionsOf(taskId, stream);
        return found.length >= 2 ? found : undefined;
      }, 'two questions');
      must(first && second && first['id'] !== second['id'], 'the two questions share an id');
      await session.respond(first, { action: 'accept', content: { name: 'a', confirm: true } });
      await after(QUIET_MS);
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'input_required',
        'the status after one answer',
      );
      await session.respond(second, { action: 'accept', content: { name: 'b', confirm: true } });
      const reply = await replyOf(stream, stream.id);
      mustEqual(textOf(reply.result), 'First: accept, second: accept', 'the result');
    },
  ),
  defineCheck(
    {
      id: '2025-decline-is-an-answer',
      requirements: ['G1-45', 'G2-68'],
      title: 'a question that is declined lets the task go on',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { filename, stream } = await askingTask(session);
      await session.respond(await question(stream), { action: 'decline' });
      const reply = await replyOf(stream, stream.id);
      mustEqual(textOf(reply.result), `Kept ${filename}`, 'the result');
    },
  ),
  defineCheck(
    {
      id: '2025-cancel-while-asking',
      requirements: ['T18', 'T5', 'G1-68'],
      title: 'cancelling a task that asks withdraws the question and ends the wait',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId, stream } = await askingTask(session);
      const asked = await question(stream);
      const cancelled = resultOf(await session.request('tasks/cancel', { taskId }), 'tasks/cancel');
      mustEqual(cancelled['status'], 'cancelled', 'the status in the answer');
      mustRefuse(await replyOf(stream, stream.id), -32_603, 'tasks/result of a cancelled task');
      const withdrawn = stream.received.find(tells('notifications/cancelled'));
      mustEqual(
        objectAt(withdrawn, 'params')['requestId'],
        asked['id'],
        'the request that was withdrawn',
      );
      await session.respond(asked, YES);
      mustEqual(
        (await getTask2025(session, taskId))['status'],
        'cancelled',
        'the status after a late answer',
      );
    },
  ),
  defineCheck(
    {
      id: '2025-undeclared-mode-is-not-asked',
      requirements: ['G1-48'],
      title: 'a client that declared only forms is never asked to open a URL',
    },
    async ({ alice }) => {
      const session = await openSession(alice, { capabilities: { elicitation: {} } });
      const standalone = await session.listen();
      const { taskId } = await createTask(session, 'test_url_elicitation');
      const stream = await session.open('tasks/result', { taskId });
      await reaches2025(session, taskId, ...TERMINAL);
      mustEqual(questionsOf(taskId, standalone, stream).length, 0, 'the number of questions');
      standalone.close();
      stream.close();
    },
  ),
  defineCheck(
    {
      id: '2025-sampling-is-asked',
      requirements: ['G1-43', 'G1-139'],
      title: 'a task asks for sampling as it asks for anything else',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const { taskId } = await createTask(session, 'test_sampling', {
        args: { prompt: 'Say yes' },
      });
      const stream = await session.open('tasks/result', { taskId });
      const asked = await stream.waitFor(asks('sampling/createMessage'), 'sampling/createMessage');
      mustEqual(relatedTask(asked['params']), taskId, 'the related task of the question');
      const content = { type: 'text', text: 'yes, said the model' };
      await session.respond(asked, { role: 'assistant', model: 'test', content });
      const reply = await replyOf(stream, stream.id);
      must(
        textOf(reply.result).includes('yes, said the model'),
        `the result is ${JSON.stringify(reply)}`,
      );
    },
  ),
  defineCheck(
    {
      id: '2025-plain-call-asks-on-its-own-stream',
      requirements: ['G1-127', 'G1-125'],
      title: 'a call without a task asks on its own stream',
    },
    async ({ alice }) => {
      const session = await openSession(alice);
      const standalone = await session.listen();
      const filename = newTag('plain');
      const stream = await session.open('tools/call', {
        name: 'confirm_delete',
        arguments: { filename },
      });
      const asked = await question(stream);
      await session.respond(asked, YES);
      const reply = await replyOf(stream, stream.id);
      mustEqual(textOf(reply.result), `Deleted ${filename}`, 'the result');
      const elsewhere = standalone.received
        .filter(isRequest)
        .map((message) => objectAt(message, 'params')['message']);
      must(
        !elsewhere.some((message) => String(message).includes(filename)),
        'the question came on another stream too',
      );
      standalone.close();
    },
  ),
  defineCheck(
    {
      id: '2025-foreign-answer-is-ignored',
      requirements: ['G1-62', 'G1-99', 'T10'],
      title: "somebody else's answer to a question changes nothing",
    },
    async ({ alice, bob }) => {
      const session = await openSession(alice);
      const other = await openSession(bob);
      const { taskId, stream } = await askingTask(session);
      const asked = await question(stream);
      await other.respond(asked, YES);
      await after(QUIET_MS);
      mustEqual((await getTask2025(session, taskId))['status'], 'input_required', 'the status');
      await session.request('tasks/cancel', { taskId });
      stream.close();
    },
  ),
];
