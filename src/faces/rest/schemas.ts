import { z } from 'zod';
import {
  EFFECT_CLASSES,
  GENERATIONS,
  INPUT_METHODS,
  TASK_ENDINGS,
  TASK_PHASES,
  TASK_STATUSES,
} from '../../protocol/model.ts';
import { JOB_WAIT_MS_MAX } from '../../runtime/job-tools.ts';
import { REPEATED_BY } from '../../runtime/receiver.ts';
import { READINGS, SEND_AGAIN, type ReadingName } from '../../runtime/two-answers.ts';

/**
 * What the REST job API takes and answers, once: requests are read by these schemas, the OpenAPI document is made of
 * them, and a test holds real answers against it. Times are RFC 3339 in UTC, durations ms, an absent value is `null`.
 */

/** Grows when a member changes its meaning or goes away; new members may come at any time. */
export const SCHEMA_VERSION = 1;

const schemaVersion = z.literal(SCHEMA_VERSION);
const time = z.iso.datetime().meta({ description: 'RFC 3339, UTC.' });
const anything = z.record(z.string(), z.unknown());
const [older, newer] = GENERATIONS;

const protocol = z
  .object({
    phase: z.enum(TASK_PHASES),
    ending: z.enum(TASK_ENDINGS).nullable(),
    status: z.object({ [older]: z.enum(TASK_STATUSES), [newer]: z.enum(TASK_STATUSES) }),
    message: z.string().nullable().meta({ description: 'Its latest word, from the tool.' }),
  })
  .meta({ description: 'The first answer: what the protocol says about the request.' });

const outcome = z
  .object({
    name: z.enum(Object.keys(READINGS) as [ReadingName, ...ReadingName[]]),
    words: z.string(),
    explanation: z.string(),
    sendAgain: z.enum(SEND_AGAIN),
    advice: z.string(),
  })
  .meta({
    description: 'The second answer: what is known about the effect. Decide on name and sendAgain.',
  });

const operation = z.object({
  id: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
});

const question = z
  .object({
    key: z.string(),
    method: z.enum(INPUT_METHODS),
    params: anything.meta({ description: 'Those of the MCP request of that method.' }),
    askedAt: time,
    expiresAt: time,
  })
  .meta({ description: 'An open question, for the job’s owner alone.' });

const jobMembers = {
  id: z.string(),
  tool: z.string(),
  effect: z.enum(EFFECT_CLASSES),
  revision: z.int(),
  protocol,
  outcome,
  operation: operation.nullable().meta({ description: 'Its row in the ledger; a read has none.' }),
  createdAt: time,
  updatedAt: time,
  expiresAt: time,
  cancelRequestedAt: time.nullable(),
  lookAgainAfterMs: z.int().nullable().meta({ description: 'null once it has ended.' }),
};

export const jobSchema = z
  .object({
    schemaVersion,
    ...jobMembers,
    questions: z.array(question),
    deduplicated: z
      .enum(REPEATED_BY)
      .meta({
        description:
          'This start found a call that was made before: by its key, or without one by the guard against repeats.',
      })
      .optional(),
  })
  .meta({ title: 'Job', description: 'One call, with its two answers.' });

export const resultSchema = z
  .object({
    schemaVersion,
    job: z.object(jobMembers),
    ending: z.enum(TASK_ENDINGS),
    result: anything.nullable().meta({ description: 'The tool’s result, exactly as it came.' }),
    error: z
      .object({ code: z.int(), message: z.string(), data: z.unknown().optional() })
      .nullable()
      .meta({ description: 'The JSON-RPC error that the call ended in.' }),
  })
  .meta({ title: 'Result', description: 'What an ended job came to.' });

export const listSchema = z
  .object({
    schemaVersion,
    items: z.array(z.object(jobMembers)),
    nextCursor: z.string().nullable(),
  })
  .meta({ title: 'JobList', description: 'Jobs of the caller, newest first.' });

export const answeredSchema = z
  .object({
    schemaVersion,
    taken: z.array(z.string()).meta({ description: 'Keys that this request answered.' }),
    ignored: z
      .array(z.string())
      .meta({ description: 'Keys that were not open: answered before, expired, or never asked.' }),
    expired: z.array(z.string()).meta({ description: 'Of these, the keys that came too late.' }),
  })
  .meta({ title: 'Answered', description: 'What became of answers.' });

export const cancelledSchema = z
  .object({
    schemaVersion,
    kind: z.enum(['cancelled', 'already_ended']),
    job: z.object(jobMembers),
  })
  .meta({
    title: 'Cancelled',
    description: 'Told to stop; it ends within its grace. Look at job.outcome for its effect.',
  });

export const problemSchema = z
  .looseObject({
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'Stable; docs/reference/errors has a page for each.' }),
    hint: z.string().nullable(),
    retryable: z.boolean(),
    retryAfterMs: z.int().optional(),
    operationId: z.string().optional(),
  })
  .meta({ title: 'Problem', description: 'Why a request was not done (RFC 9457).' });

const waitMs = z.int().min(0).max(JOB_WAIT_MS_MAX);

export const startSchema = z
  .strictObject({
    tool: z.string().min(1).max(256),
    arguments: anything.default({}),
    idempotencyKey: z
      .string()
      .meta({ description: 'At most 128 bytes. The header Idempotency-Key says the same.' })
      .optional(),
    newOperation: z
      .boolean()
      .meta({
        description: 'Means another call, where the same one was made before without a key.',
      })
      .optional(),
    waitMs: waitMs.default(0).meta({ description: 'How long to wait for its end, or a question.' }),
    asks: z
      .array(z.enum(['elicitation-form', 'elicitation-url']))
      .default([])
      .meta({ description: 'What this program can be asked; what is not named is not asked.' }),
  })
  .meta({ title: 'Start', description: 'A tool call to start.' });

const answerSchema = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: anything.optional(),
});

export const answersSchema = z
  .strictObject({ answers: z.record(z.string(), answerSchema) })
  .meta({ title: 'Answers', description: 'Answers by the keys of the questions.' });

export const waitQuerySchema = z.strictObject({
  forMs: z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .pipe(waitMs)
    .default(JOB_WAIT_MS_MAX),
});
export const listQuerySchema = z.strictObject({ cursor: z.string().optional() });
export const noQuerySchema = z.strictObject({});
