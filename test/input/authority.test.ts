import { describe, expect, test } from 'vitest';
import type { FormQuestion } from '../../src/runtime/steps/context.ts';
import {
  ALICE,
  createReceivingSide,
  freshPath,
  payTool,
  readTool,
  until,
} from '../runtime/receiving-side.ts';
import type { ReceivingSide, SideOptions } from '../runtime/receiving-side.ts';
import { textResult } from './input-kit.ts';

const FORM: FormQuestion = {
  message: 'Go on?',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } } },
};
const ACCEPT = { kind: 'result', result: { action: 'accept', content: { ok: true } } } as const;
const tools = [readTool, payTool].map((tool) => ({ ...tool, journalled: true }));

interface Scene {
  readonly done: string[];
  open(mayResume: SideOptions['mayResume']): Promise<ReceivingSide>;
}

/** A tool that asks, and then does something. */
function scene(): Scene {
  const done: string[] = [];
  const path = freshPath();
  return {
    done,
    async open(mayResume) {
      const side = await createReceivingSide({
        path,
        tools,
        run: () => Promise.reject(new Error('never called')),
        handle: async ({ context }) => {
          await context.ask('go on', FORM);
          await context.step('after', () => void done.push('after'));
          return textResult('done');
        },
        ...(mayResume ? { mayResume } : {}),
      });
      await side.open();
      return side;
    },
  };
}

async function keyOf(side: ReceivingSide, taskId: string): Promise<string> {
  let key = '';
  await until(async () => {
    [{ key } = { key: '' }] = await side.store.inputs.listPending('system', taskId);
    return key !== '';
  });
  return key;
}

describe('a call that waits for its owner', () => {
  test('goes on with the answer while its owner may still call the tool', async () => {
    const { open, done } = scene();
    const asked: string[] = [];
    const side = await open((task) => {
      asked.push(task.owner);
      return true;
    });
    const task = await side.call({ tool: tools[0] ?? readTool });
    const key = await keyOf(side, task.id);
    await until(async () => (await side.store.attempts.listOf(task.id)).length === 2);
    await side.runtime.receiver.answer(ALICE, task.id, { [key]: ACCEPT });
    expect(await side.outcome(task)).toMatchObject({ kind: 'result' });
    expect(done).toEqual(['after']);
    expect(asked).toEqual([ALICE.key]);
  });

  test('does nothing more in the name of somebody whose grant was taken back, and says so', async () => {
    const { open, done } = scene();
    let granted = true;
    const side = await open(() => granted);
    const task = await side.call({ tool: tools[0] ?? readTool });
    const key = await keyOf(side, task.id);
    await until(async () => (await side.store.attempts.listOf(task.id)).length === 2);
    granted = false;
    await side.runtime.receiver.answer(ALICE, task.id, { [key]: ACCEPT });
    expect(await side.outcome(task)).toMatchObject({
      kind: 'error',
      error: { data: { reason: 'not_authorized' } },
    });
    expect(done).toEqual([]);
  });

  test('is asked after a death of its process too', async () => {
    const { open, done } = scene();
    const first = await open(() => true);
    const task = await first.call({ tool: tools[0] ?? readTool });
    const key = await keyOf(first, task.id);
    await until(async () => (await first.store.attempts.listOf(task.id)).length === 2);
    await first.die();
    const second = await open(() => false);
    await second.runtime.receiver.answer(ALICE, task.id, { [key]: ACCEPT });
    expect(await second.outcome(task)).toMatchObject({
      error: { data: { reason: 'not_authorized' } },
    });
    expect(done).toEqual([]);
  });

  test('takes no answer of a credential that may not answer', async () => {
    const { open } = scene();
    const side = await open(undefined);
    const task = await side.call({ tool: tools[0] ?? readTool });
    const key = await keyOf(side, task.id);
    const reader = { ...ALICE, scopes: ['task.read'] };
    expect(await side.runtime.receiver.answer(reader, task.id, { [key]: ACCEPT })).toEqual({
      kind: 'missing',
    });
    expect(await side.store.inputs.listPending('system', task.id)).toHaveLength(1);
  });
});
