import type { Json } from '../../../src/kernel/json.ts';
import type { FormQuestion, JobContext } from '../../../src/runtime/steps/context.ts';

/** What the world sees of the ten steps. */
export interface TenStepsWorld {
  /** The work of a step or an effect begins. */
  begin(name: string, interrupted: boolean): Promise<void>;
  /** When the sleep is to end, in ms since the epoch. */
  wakeAt(): number;
}

export const TEN_STEPS = [
  'fetch',
  'parse',
  'reserve',
  'approve',
  'build',
  'check-a',
  'check-b',
  'settle',
  'pay',
  'close',
] as const;

export const EFFECTS: readonly string[] = ['reserve', 'pay'];

const APPROVE: FormQuestion = {
  message: 'Go on?',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
};

/** A handler with ten steps of every kind: two effects, a question, a sleep, and two steps at once. */
export async function tenSteps(job: JobContext, world: TenStepsWorld): Promise<Json> {
  const step = (name: string): Promise<string> =>
    job.step(name, async ({ interrupted }) => {
      await world.begin(name, interrupted);
      return `${name} done`;
    });
  const effect = (name: string): Promise<string> =>
    job.effect(name, async ({ operationId }) => {
      await world.begin(name, false);
      return `${name} as ${operationId}`;
    });

  const fetched = await step('fetch');
  const parsed = await step('parse');
  const reserved = await effect('reserve');
  const { action } = await job.ask('approve', APPROVE);
  const built = await step('build');
  const checked = await Promise.all([step('check-a'), step('check-b')]);
  await job.sleepUntil('settle', world.wakeAt());
  const paid = await effect('pay');
  const closed = await step('close');
  const said = [fetched, parsed, reserved, action, built, ...checked, paid, closed];
  return { content: [{ type: 'text', text: said.join('; ') }] };
}
