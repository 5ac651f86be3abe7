import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CrashPoint } from '../../../src/kernel/crash-point.ts';
import type { Outcome } from '../../../src/protocol/model.ts';
import type { JournalFact } from '../../../src/stores/journal.ts';
import { EFFECTS, TEN_STEPS } from './ten-steps.ts';

const PROCESS = fileURLToPath(new URL('./mortal-process.ts', import.meta.url));
const TIMES = 3;
const TIMEOUT_MS = 180_000;

interface Place {
  readonly data: string;
  readonly effects: string;
}

function freshPlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'longcall-killed-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { data: join(directory, 'longcall.db'), effects: join(directory, 'effects.jsonl') };
}

/** What a process that came to its end has found. */
interface End {
  readonly outcome: Outcome;
  readonly facts: readonly JournalFact[];
  readonly states: Readonly<Record<string, string>>;
}

/** One life. Nothing where it died, which has to be by SIGKILL at that point. */
function live({ data, effects }: Place, crashAt?: string): Promise<End | undefined> {
  const env = { ...process.env, ...(crashAt === undefined ? {} : { LONGCALL_CRASH_AT: crashAt }) };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [PROCESS, data, effects], { env }, (error, stdout, stderr) => {
      if (error?.signal === 'SIGKILL') resolve(undefined);
      else if (error) reject(new Error(`${error.message}\n${stderr}`));
      else resolve(JSON.parse(stdout) as End);
    });
  });
}

interface Execution {
  readonly name: string;
  readonly interrupted: boolean;
}

const executionsAt = ({ effects }: Place): readonly Execution[] =>
  readFileSync(effects, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Execution);

/** The three edges of a step, by their crash points. */
const STEP: readonly CrashPoint[] = ['step-begun', 'step-done', 'step-ended'];

/** Every edge of the ten steps but those that leave an effect in the dark; each death is followed by the next life. */
const EDGES: readonly CrashPoint[] = [
  ...STEP, // fetch
  ...STEP, // parse
  'receipt-written', // reserve
  'parked', // approve
  'step-ended', // the answer
  ...STEP, // build
  ...STEP, // check-a and check-b, which run at once: their ends may be written together
  'parked', // settle
  'step-ended', // its time has come
  'receipt-written', // pay
  ...STEP, // close
  'after-settlement',
];

describe.each(Array.from({ length: TIMES }, (_, at) => at + 1))('the %i. time', (_time) => {
  test(
    'ten steps, killed by SIGKILL at every edge: what was finished ran once, and the call comes to its end',
    async () => {
      const place = freshPlace();
      const deaths: string[] = [];
      for (const edge of EDGES) {
        if ((await live(place, edge)) === undefined) deaths.push(edge);
      }
      expect(deaths).toEqual(EDGES);
      const end = await live(place);
      expect(end?.outcome).toMatchObject({ kind: 'result' });
      expect(end?.states).toEqual({
        call: 'acknowledged',
        reserve: 'acknowledged',
        pay: 'acknowledged',
      });
      expect(end?.facts.filter(({ type }) => type === 'ended')).toHaveLength(TEN_STEPS.length);

      const executions = executionsAt(place);
      for (const name of TEN_STEPS.filter((each) => each !== 'approve' && each !== 'settle')) {
        const [, ...again] = executions.filter((each) => each.name === name);
        if (EFFECTS.includes(name)) expect(again).toEqual([]);
        for (const { interrupted } of again) expect(interrupted).toBe(true);
        // Killed once before its work, once after it, and once when its end was written: then never again.
        expect(again.length).toBeLessThanOrEqual(name.startsWith('check') ? 2 : 1);
      }
    },
    TIMEOUT_MS,
  );

  test.each([
    ['effect-dispatched', 1, 'reserve'],
    ['effect-done', 1, 'reserve'],
    ['effect-dispatched', 2, 'pay'],
    ['effect-done', 2, 'pay'],
  ] as const)(
    'killed at the %s of its effect number %i, that one is not sent again, and told apart from the finished',
    async (point, nth, name) => {
      const place = freshPlace();
      // The sleep and the question start attempts of their own in the same process.
      expect(await live(place, `${point}#${nth}`)).toBeUndefined();
      const before = executionsAt(place).length;
      const end = await live(place);
      expect(executionsAt(place)).toHaveLength(before);
      const begun = end?.facts.findLast((fact) => fact.type === 'begun');
      expect(begun).toMatchObject({ name, kind: 'effect' });
      expect(end?.outcome).toMatchObject({
        kind: 'error',
        error: {
          data: {
            reason: 'outcome_unknown',
            effect: name,
            operationId: begun?.type === 'begun' ? begun.operationId : undefined,
          },
        },
      });
      expect(end?.states[name]).toBe('unknown');
      if (name === 'pay') expect(end?.states['reserve']).toBe('acknowledged');
    },
    TIMEOUT_MS,
  );
});
