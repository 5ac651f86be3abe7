import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { FieldClass } from '../../src/protocol/model.ts';
import { verifies } from '../requirements/verifies.ts';
import { resultOf, textOf } from '../faces/wire.ts';
import {
  createTask2026,
  getTask,
  openSite,
  questionOf,
  reaches,
  storyOf,
  textResult,
  update,
  type InputSite,
} from './input-kit.ts';
import { openPage, type Page } from './page.ts';

const CANARY = 'canary-4111-1111-1111-1111';

/** Whether the text is anywhere in the database's files, in whatever row or free page. */
const onDisk = ({ path }: InputSite, text: string): boolean =>
  [path, `${path}-wal`, `${path}-shm`]
    .filter((file) => existsSync(file))
    .some((file) => readFileSync(file).includes(text));

const countCharacters = (value: JsonObject): string => `${String(value['card']).length} characters`;

interface Scene {
  readonly site: InputSite;
  readonly page: Page;
  readonly taskId: string;
  readonly key: string;
  readonly link: string;
}

/** A tool that gets something from a page and looks at it in one step, or at nothing. */
async function scene(
  fieldClass: FieldClass | undefined,
  looks = true,
  look = countCharacters,
): Promise<Scene> {
  const page = await openPage({
    callbackUrl: (): string => site.confirmUrl,
    content: { card: CANARY },
  });
  const site = await openSite({
    async handler(job) {
      const answer = await job.askUrl('pay', {
        message: 'Pay there',
        url: ({ token }) => page.linkFor(token),
        ...(fieldClass ? { fieldClass } : {}),
      });
      if (answer.action !== 'confirmed') return textResult(answer.action);
      if (answer.content) return textResult(`in the open: ${JSON.stringify(answer.content)}`);
      if (!looks) return textResult('not looked at');
      return textResult(String(await answer.sealed?.use('look', look)));
    },
  });
  const taskId = await createTask2026(site.alice);
  const { key, params } = await questionOf(site.alice, taskId);
  return { site, page, taskId, key, link: String(params['url']) };
}

const resultText = async ({ site, taskId }: Scene): Promise<string> =>
  textOf((await getTask(site.alice, taskId))['result'] as JsonObject);

describe('what a page sends along', () => {
  verifies(
    ['G1-50', 'G2-69', 'T44'],
    'is never on the disk in the clear, reaches one step of the handler, and is erased when that has ended',
    async () => {
      const all = await scene('payment');
      const { site, page, link, taskId, key } = all;
      expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
      await reaches(site.alice, taskId, 'completed');
      expect(await resultText(all)).toContain(`${CANARY.length} characters`);
      expect(onDisk(site, CANARY)).toBe(false);
      expect(onDisk(site, 'Pay there')).toBe(true); // the search finds what is there
      const found = await site.kit.side.store.inputs.find(taskId, key);
      expect(found?.input.state).toBe('answered');
      expect(found?.answer).toBeUndefined();
    },
  );

  test('is encrypted where nobody declared its class', async () => {
    const all = await scene(undefined);
    expect(await all.page.visit(all.link, { as: 'alice', does: 'confirm' })).toBe(200);
    await reaches(all.site.alice, all.taskId, 'completed');
    expect(onDisk(all.site, CANARY)).toBe(false);
  });

  test('comes as it is where its author declared it harmless', async () => {
    const all = await scene('public');
    expect(await all.page.visit(all.link, { as: 'alice', does: 'confirm' })).toBe(200);
    await reaches(all.site.alice, all.taskId, 'completed');
    expect(await resultText(all)).toContain('in the open');
  });

  test('is not in the error of the step that failed with it', async () => {
    const all = await scene('secret', true, (value) => {
      throw new Error(`no luck with ${String(value['card'])}`);
    });
    expect(await all.page.visit(all.link, { as: 'alice', does: 'confirm' })).toBe(200);
    await reaches(all.site.alice, all.taskId, 'failed');
    const told = JSON.stringify(await getTask(all.site.alice, all.taskId));
    expect(told).toContain('no luck with [sealed]');
    expect(onDisk(all.site, CANARY)).toBe(false);
  });

  test('is erased with its task where nobody has looked at it', async () => {
    const all = await scene('credential', false);
    const { site, page, taskId, key, link } = all;
    expect(await page.visit(link, { as: 'alice', does: 'confirm' })).toBe(200);
    await reaches(site.alice, taskId, 'completed');
    expect(await resultText(all)).toContain('not looked at');
    expect((await site.kit.side.store.inputs.find(taskId, key))?.answer).toBeUndefined();
    expect(onDisk(site, CANARY)).toBe(false);
  });

  test('is in no status, no event, no list and no answer to the page', async () => {
    const all = await scene('secret');
    const { site, page, taskId, link } = all;
    await page.visit(link, { as: 'alice', does: 'confirm' });
    await reaches(site.alice, taskId, 'completed');
    const alice = await site.alice2025();
    const seen = [
      await getTask(site.alice, taskId),
      resultOf(await alice.call('tasks/list')),
      await storyOf(site, taskId),
      await site.kit.side.store.journal.read(taskId),
      page.answers,
    ];
    expect(JSON.stringify(seen)).not.toContain(CANARY);
  });
});

describe('a form', () => {
  test.each([
    ['declared', { pin: { type: 'string' } }, { pin: 'secret' }, 'pin (secret)'],
    ['by its name', { password: { type: 'string' } }, {}, 'password (credential)'],
    ['by its format', { word: { type: 'string', format: 'password' } }, {}, 'word (secret)'],
    [
      'by its name, whatever is declared',
      { cvv: { type: 'string' } },
      { cvv: 'public' },
      'cvv (payment)',
    ],
  ] as const)('that would ask for a secret is refused when it is asked: %s', async (...args) => {
    const [, properties, fields, words] = args;
    const site = await openSite({
      handler: async (job) => {
        const schema = { type: 'object', properties } as JsonObject;
        await job.ask('secret', { message: 'Tell me', schema, fields });
        return textResult('told');
      },
    });
    const taskId = await createTask2026(site.alice);
    await reaches(site.alice, taskId, 'failed');
    const text = JSON.stringify(await getTask(site.alice, taskId));
    expect(text).toContain(words);
    expect(text).toContain('askUrl');
    expect(await storyOf(site, taskId)).not.toContain('task.input_asked');
  });

  test('keeps its answers for as long as its task runs, and no longer', async () => {
    const answer = 'canary-in-a-form';
    let seen = '';
    const site = await openSite({
      async handler(job) {
        const schema = { type: 'object', properties: { name: { type: 'string' } } } as const;
        const said = await job.ask('name', { message: 'Name?', schema });
        seen = JSON.stringify(said);
        return textResult('thanks');
      },
    });
    const taskId = await createTask2026(site.alice);
    const { key } = await questionOf(site.alice, taskId);
    resultOf(
      await update(site.alice, taskId, { [key]: { action: 'accept', content: { name: answer } } }),
    );
    await reaches(site.alice, taskId, 'completed');
    expect(seen).toContain(answer);
    expect((await site.kit.side.store.inputs.find(taskId, key))?.answer).toBeUndefined();
    expect(JSON.stringify(await storyOf(site, taskId))).not.toContain(answer);
    expect(JSON.stringify(await getTask(site.alice, taskId))).not.toContain(answer);
  });
});
