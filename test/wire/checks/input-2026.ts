import { after, defineCheck, eventually, must, mustEqual, newTag, untested } from '../check.ts';
import { createClient2026, DECLARES_ALL, DECLARES_NO_TASKS, TASKS_EXTENSION } from '../client.ts';
import {
  callAsTask,
  getTask,
  mustRefuse,
  objectAt,
  reaches,
  resultOf,
  TERMINAL,
  textOf,
} from '../steps.ts';

const QUIET_MS = 500;
const YES = { action: 'accept', content: { confirm: true } };
const NAMED = { action: 'accept', content: { name: 'a', confirm: true } };

const keysOf = (task: unknown): string[] => Object.keys(objectAt(task, 'inputRequests'));

/** Input in the middle of a task of 2026-07-28, and of a call without one. */
export const INPUT_2026 = [
  defineCheck(
    {
      id: '2026-keys-are-used-once',
      requirements: ['G2-47', 'G2-48', 'G2-50', 'G2-54', 'G2-52', 'G2-61'],
      title: 'every question has a key of its own, which never comes back once it is answered',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'multi_input');
      const asked = await eventually(async () => {
        const task = await reaches(client, taskId, 'input_required');
        return keysOf(task).length >= 2 ? task : undefined;
      }, 'two questions');
      mustEqual(asked['resultType'], 'complete', 'the type of tasks/get of a task that asks');
      const [first = '', second = ''] = keysOf(asked);
      for (const request of Object.values(objectAt(asked, 'inputRequests'))) {
        mustEqual(
          (request as { method: string }).method,
          'elicitation/create',
          'the method of a question',
        );
      }
      resultOf(
        await client.request('tasks/update', { taskId, inputResponses: { [first]: NAMED } }),
        'tasks/update',
      );
      mustEqual(keysOf(await getTask(client, taskId)), [second], 'the keys after the first answer');
      resultOf(
        await client.request('tasks/update', {
          taskId,
          inputResponses: { [first]: { action: 'decline' } },
        }),
        'the same key again',
      );
      const inputResponses = { [second]: NAMED, 'never-issued': { action: 'cancel' } };
      resultOf(
        await client.request('tasks/update', { taskId, inputResponses }),
        'the second tasks/update',
      );
      const task = await reaches(client, taskId, 'completed');
      mustEqual(textOf(task['result']), 'First: accept, second: accept', 'the result');
    },
  ),
  defineCheck(
    {
      id: '2026-update-is-seen-at-once',
      requirements: ['G2-55', 'G2-56', 'G2-57', 'T30'],
      title: 'an update is acknowledged bare, and the very next read reflects it',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      const [key = ''] = keysOf(await reaches(client, taskId, 'input_required'));
      const ack = resultOf(
        await client.request('tasks/update', { taskId, inputResponses: { [key]: YES } }),
        'tasks/update',
      );
      const next = await getTask(client, taskId);
      must(!keysOf(next).includes(key), 'the answered key is still asked');
      must(next['status'] !== 'input_required', 'the task still waits for input');
      mustEqual(ack['resultType'], 'complete', 'the type of the acknowledgement');
      mustEqual(
        ['taskId', 'status', 'inputRequests'].filter((name) => name in ack),
        [],
        'fields in the acknowledgement',
      );
    },
  ),
  defineCheck(
    {
      id: '2026-malformed-answer',
      requirements: ['G2-82', 'T28'],
      title:
        'an answer that does not fit is -32602 and consumes nothing, not even its good neighbours',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const filename = newTag('file');
      const taskId = await callAsTask(client, 'confirm_delete', { args: { filename } });
      const [key = ''] = keysOf(await reaches(client, taskId, 'input_required'));
      const wrong = [
        42,
        'yes',
        null,
        {},
        { action: 'maybe' },
        { action: 'accept', content: { confirm: 'yes' } },
      ];
      for (const answer of wrong) {
        const reply = await client.request('tasks/update', {
          taskId,
          inputResponses: { [key]: answer },
        });
        mustRefuse(reply, -32_602, `the answer ${JSON.stringify(answer)}`);
        mustEqual(keysOf(await getTask(client, taskId)), [key], 'the keys afterwards');
      }
      resultOf(
        await client.request('tasks/update', { taskId, inputResponses: { [key]: YES } }),
        'a good answer',
      );
      const task = await reaches(client, taskId, 'completed');
      mustEqual(textOf(task['result']), `Deleted ${filename}`, 'the result');
    },
  ),
  defineCheck(
    {
      id: '2026-update-without-answers',
      requirements: ['T28', 'G2-54', 'G2-56'],
      title: 'an update with nothing to it is acknowledged, one without a map is refused',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      const before = await reaches(client, taskId, 'input_required');
      for (const inputResponses of [{}, { 'never-issued': YES }]) {
        resultOf(
          await client.request('tasks/update', { taskId, inputResponses }),
          `the answers ${JSON.stringify(inputResponses)}`,
        );
      }
      mustRefuse(
        await client.request('tasks/update', { taskId, inputResponses: 'all' }),
        -32_602,
        'answers that are no map',
      );
      mustEqual(await getTask(client, taskId), before, 'the task afterwards');
      await client.request('tasks/cancel', { taskId });
    },
  ),
  defineCheck(
    {
      id: '2026-undeclared-kinds-are-not-asked',
      requirements: ['G2-59', 'G2-67'],
      title:
        'nobody is asked in a way that the request did not declare, neither the creator nor a reader',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const onlyForms = { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } };
      for (const name of ['test_sampling', 'test_url_elicitation']) {
        const args = { prompt: 'Say yes' };
        const taskId = await callAsTask(client, name, { args, capabilities: onlyForms });
        await eventually(async () => {
          const task = await getTask(client, taskId);
          mustEqual(keysOf(task), [], `the questions of ${name}`);
          return TERMINAL.includes(String(task['status'])) ? true : undefined;
        }, `the end of ${name}`);
      }
      const taskId = await callAsTask(client, 'confirm_delete', {
        args: { filename: newTag('file') },
      });
      await reaches(client, taskId, 'input_required');
      const capabilities = { extensions: { [TASKS_EXTENSION]: {} } };
      const read = await getTask(client, taskId, { capabilities });
      mustEqual(keysOf(read), [], 'the questions for a reader who can answer none');
      must(
        read['status'] !== 'input_required' || keysOf(read).length > 0,
        'input_required without a question',
      );
      await client.request('tasks/cancel', { taskId });
    },
  ),
  defineCheck(
    {
      id: '2026-call-without-task-asks',
      requirements: ['G2-14', 'G2-61', 'G2-62', 'G2-64', 'G2-65', 'G2-68'],
      title:
        'a call without the extension asks by InputRequiredResult, whose state serves its own caller only',
    },
    async ({ alice, bob }) => {
      const [client, other] = [createClient2026(alice), createClient2026(bob)];
      const options = { capabilities: DECLARES_NO_TASKS };
      const filename = newTag('file');
      const call = { name: 'confirm_delete', arguments: { filename } };
      const asked = resultOf(await client.request('tools/call', call, options), 'confirm_delete');
      mustEqual(asked['resultType'], 'input_required', 'the type of the result');
      must(asked['taskId'] === undefined, 'a task came with the question');
      const [key = ''] = keysOf(asked);
      const { requestState } = asked;
      const retry = {
        ...call,
        inputResponses: { [key]: YES },
        ...(requestState === undefined ? {} : { requestState }),
      };
      if (requestState !== undefined) {
        const forged = { ...retry, requestState: `${String(requestState)}x` };
        must(
          (await client.request('tools/call', forged, options)).error,
          'a forged state was accepted',
        );
        must(
          (await other.request('tools/call', retry, options)).error,
          "somebody else's state was accepted",
        );
        const elsewhere = { ...retry, name: 'multi_input', arguments: {} };
        must(
          (await client.request('tools/call', elsewhere, options)).error,
          'the state of another tool was accepted',
        );
      }
      const result = resultOf(await client.request('tools/call', retry, options), 'the retry');
      mustEqual(textOf(result), `Deleted ${filename}`, 'the result');
    },
  ),
  defineCheck(
    {
      id: '2026-sampling-is-asked',
      requirements: ['G2-47', 'G2-184'],
      title: 'a declared sampling question comes and is answered like any other',
    },
    async ({ alice }) => {
      const client = createClient2026(alice);
      const taskId = await callAsTask(client, 'test_sampling', {
        args: { prompt: 'Say yes' },
        capabilities: DECLARES_ALL,
      });
      const task = await reaches(client, taskId, 'input_required');
      const [key = ''] = keysOf(task);
      mustEqual(
        objectAt(objectAt(task, 'inputRequests'), key)['method'],
        'sampling/createMessage',
        'the question',
      );
      const content = { type: 'text', text: 'yes, said the model' };
      const inputResponses = { [key]: { role: 'assistant', model: 'test', content } };
      resultOf(await client.request('tasks/update', { taskId, inputResponses }), 'tasks/update');
      await after(QUIET_MS);
      const ended = await reaches(client, taskId, 'completed');
      must(
        textOf(ended['result']).includes('yes, said the model'),
        `the result is ${JSON.stringify(ended)}`,
      );
    },
  ),
  defineCheck(
    {
      id: '2026-anonymous-is-asked',
      requirements: ['G2-47', 'G1-101'],
      title: 'who holds the id of a task can be asked and can answer, also without a name',
    },
    async ({ anonymous }) => {
      if (!anonymous) return untested('this target serves nobody without a token');
      const client = createClient2026(anonymous);
      const filename = newTag('file');
      const taskId = await callAsTask(client, 'confirm_delete', { args: { filename } });
      const [key = ''] = keysOf(await reaches(client, taskId, 'input_required'));
      const inputResponses = { [key]: YES };
      resultOf(await client.request('tasks/update', { taskId, inputResponses }), 'tasks/update');
      const task = await reaches(client, taskId, 'completed');
      mustEqual(textOf(task['result']), `Deleted ${filename}`, 'the result');
    },
  ),
];
