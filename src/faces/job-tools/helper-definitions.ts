import { hasScope } from '../../identity/permissions.ts';
import type { Principal } from '../../identity/principal.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { JOB_HELPERS, JOB_WAIT_MS_MAX, type JobHelper } from '../../runtime/job-tools.ts';
import { HELPER_SCOPES } from './job-helpers.ts';

const SECONDS_MAX = JOB_WAIT_MS_MAX / 1000;
const JOB = { type: 'string', description: 'Id of the job, as the first answer named it.' };

interface HelperText {
  readonly title: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly annotations: JsonObject;
}

const READS = { readOnlyHint: true, openWorldHint: false };
const WRITES = { readOnlyHint: false, idempotentHint: true, openWorldHint: false };

/** What models read in every conversation, so every word has to earn its place. */
const TEXTS: Readonly<Record<JobHelper, HelperText>> = {
  longcall_wait: {
    title: 'Wait for a job',
    description:
      'Waits for a job that another tool has started, and returns the result of that tool as soon as it is there. ' +
      'Returns earlier when the job asks something. Call it again while the job is running.',
    properties: {
      job: JOB,
      seconds: {
        type: 'integer',
        minimum: 0,
        maximum: SECONDS_MAX,
        description: `How long to wait; default ${SECONDS_MAX}.`,
      },
    },
    required: ['job'],
    annotations: READS,
  },
  longcall_result: {
    title: 'Read a job’s result',
    description: 'Reads the result of an ended job again, or one part of a large one. Never waits.',
    properties: {
      job: JOB,
      part: { type: 'integer', minimum: 1, description: 'Which part of a large result.' },
    },
    required: ['job'],
    annotations: READS,
  },
  longcall_answer: {
    title: 'Answer a job’s question',
    description:
      'Answers a question that a job asks you, then waits like longcall_wait. What a job asks the person cannot be ' +
      'answered with it.',
    properties: {
      job: JOB,
      question: { type: 'string', description: 'Key of the question, where several are open.' },
      content: { type: 'object', description: 'The fields of the form.' },
    },
    required: ['job', 'content'],
    annotations: WRITES,
  },
  longcall_cancel: {
    title: 'Cancel a job',
    description: 'Stops a job, and says whether it may have taken effect before.',
    properties: { job: JOB },
    required: ['job'],
    annotations: { ...WRITES, destructiveHint: true },
  },
  longcall_list: {
    title: 'List jobs',
    description: 'Lists your jobs, newest first, also those that other conversations have started.',
    properties: { cursor: { type: 'string', description: 'For the next page.' } },
    required: [],
    annotations: READS,
  },
};

function definition(name: JobHelper): JsonObject {
  const { title, description, properties, required, annotations } = TEXTS[name];
  const inputSchema = { type: 'object', properties, required };
  return { name, title, description, inputSchema, annotations };
}

/**
 * The helpers that this caller may use; `longcall_list` needs an identity. None has an outputSchema: what they return is
 * another tool's result.
 */
export const helperDefinitions = (principal: Principal): readonly JsonObject[] =>
  JOB_HELPERS.filter((name) =>
    HELPER_SCOPES[name].every((scope) => hasScope(principal, scope)),
  ).map(definition);
