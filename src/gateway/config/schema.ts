import { z } from 'zod';
import { EFFECT_CLASSES } from '../../protocol/model.ts';
import { FALLBACKS, JOB_TOOLS_SETTINGS } from '../../runtime/job-tools.ts';
import { TOOL_MODES } from '../../runtime/tool.ts';
import { SHARINGS } from '../options.ts';
import { ARTIFACT_SETTINGS, ENGINE_MODES, LOG_FORMATS, LOG_LEVELS } from './config.ts';
import { patternProblem, PATTERNS_MAX } from './redaction.ts';
import { address, choice, count, duration, flag, size } from './scalars.ts';

/**
 * The configuration file, key by key. What a key means to people is its description here; from this the JSON Schema
 * is made. Defaults are in defaults.ts, rules over several keys in rules.ts.
 */

const DAY_MS = 86_400_000;
const UP_TO_30_DAYS = { minMs: 1, maxMs: 30 * DAY_MS, range: 'more than 0 and at most 30d' };
const UP_TO_30_DAYS_OR_0 = { maxMs: 30 * DAY_MS, range: 'at most 30d' };
const KEPT = { minBytes: 1024 ** 2, range: 'at least 1MiB' };
const text = (about: string) =>
  z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .meta({ description: about });

const artifactBytes = (about: string) => size(about, { minBytes: 4096, range: 'at least 4KiB' });

const redactPattern = text('A pattern of RE2.').superRefine((pattern, context) => {
  const message = patternProblem(pattern);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const argumentName = z
  .string({ error: 'must be the name of an argument' })
  .regex(/^[^\s.]{1,64}$/, {
    error: 'must be the name of an argument: at most 64 characters, no spaces and no dots',
  });

const idempotency = z
  .strictObject({
    argument: argumentName
      .meta({
        description:
          'An optional argument for the key that is added to the listed tool and taken off before the upstream.',
      })
      .optional(),
    from: z
      .array(argumentName, { error: 'must be a list of arguments' })
      .min(1, { error: 'must name at least one argument' })
      .meta({ description: 'Arguments whose values together are the key.' })
      .optional(),
  })
  .meta({ description: 'Where the idempotency key comes from, beside `_meta`.' });

const toolRule = z
  .strictObject({
    mode: choice(
      'How the tool is served; refuse also takes it off the lists.',
      TOOL_MODES,
    ).optional(),
    effect: choice(
      'What the tool may do to the world; decides what happens after a crash.',
      EFFECT_CLASSES,
    ).optional(),
    syncWindow: duration(
      'How long a caller that can take a handle is kept for the plain answer; 0: not at all.',
      {
        maxMs: 20_000,
        range: 'at most 20s',
      },
    ).optional(),
    jobWindow: duration(
      'The same for a caller without Tasks, whose handle is one for job tools; 0: not at all.',
      { maxMs: 20_000, range: 'at most 20s' },
    ).optional(),
    fallback: z
      .array(choice('A way.', FALLBACKS), { error: `must be a list of ${FALLBACKS.join(', ')}` })
      .min(1, { error: 'must name at least one way' })
      .meta({
        description:
          'What callers without Tasks get, in order of preference; job-tools counts unless jobTools is off.',
      })
      .optional(),
    plainLimit: duration(
      'Longest wait of a caller that cannot take a handle.',
      UP_TO_30_DAYS,
    ).optional(),
    runLimit: duration(
      'Longest run, over all attempts of a call; waits for people and the queue do not count.',
      UP_TO_30_DAYS,
    ).optional(),
    inputAllowance: duration('Time for questions, over the whole call.', UP_TO_30_DAYS).optional(),
    inputExpiry: duration('How long one question stays open.', UP_TO_30_DAYS).optional(),
    retention: duration('How long the record stays after the run.', UP_TO_30_DAYS).optional(),
    pollInterval: duration('The hint to callers how often to ask.', {
      minMs: 10,
      maxMs: 3_600_000,
      range: 'from 10ms to 1h',
    }).optional(),
    repeatWindow: duration(
      'How long after delivery a consequential call without a key is still taken for the same one.',
      UP_TO_30_DAYS_OR_0,
    ).optional(),
    idempotency: idempotency.optional(),
    concurrency: count('Most running calls of the tool.').optional(),
    queued: count('Most calls of the tool that wait for a place.').optional(),
    artifacts: choice(
      'Whether what is large in its results becomes artifacts, with links in its place.',
      ARTIFACT_SETTINGS,
    ).optional(),
    artifactArguments: z
      .array(text('The name of an argument.'), { error: 'must be a list of names of arguments' })
      .min(1, { error: 'must name at least one argument' })
      .meta({
        description: 'Arguments that may name an artifact instead of carrying its content.',
      })
      .optional(),
    roundsFirst: flag(
      'On 2026-07-28: whether its questions are asked before the handle leaves, as rounds of the call.',
    ).optional(),
  })
  .meta({ description: 'How one tool is served.' });

const environment = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
    z.string({ error: 'must be text; put numbers in quotes' }),
  )
  .meta({
    description: 'Environment variables of the command, beside the few that every child gets.',
  });

const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
    z
      .string({ error: 'must be text' })
      .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, { error: 'must be one line' }),
  )
  .meta({ description: 'Headers of every request to the URL, for example Authorization.' });

const upstream = z
  .strictObject({
    command: z
      .array(text('Program and arguments.'), { error: 'must be a list: [program, argument, …]' })
      .min(1, { error: 'must name a program' })
      .meta({
        description:
          'A server over stdio: program and arguments, without a shell, started in the folder of the file.',
      })
      .optional(),
    url: text('A server over Streamable HTTP.').optional(),
    env: environment.optional(),
    headers: headers.optional(),
    trustAnnotations: flag('Whether readOnlyHint makes a tool a read.').optional(),
    connections: choice('How callers share connections.', SHARINGS).optional(),
    connectionsMax: count('Most connections of one principal; further calls wait.').optional(),
    prefix: z
      .string({ error: 'must be text' })
      .regex(/^[A-Za-z0-9_.-]{0,64}$/, { error: 'must be at most 64 letters, digits, _, . or -' })
      .meta({ description: 'Put before the names of tools and prompts.' })
      .optional(),
    tools: z
      .record(z.string().min(1), toolRule)
      .meta({ description: 'Policy by the tool names of the upstream; "*" is for all of them.' })
      .optional(),
  })
  .meta({ description: 'A server to stand in front of: command or url.' });

/** What the file may say, all optional but `upstreams`; read after the defaults have been laid under it. */
export const configSchema = z.strictObject({
  data: text('Directory of the store, the lock, keys and tokens.'),
  store: z
    .literal('sqlite', { error: 'only sqlite is available in this version' })
    .meta({ description: 'Where records are kept.' }),
  listen: z.strictObject({
    mcp: address('Streamable HTTP at /mcp. Beyond loopback it needs identity.tokens.'),
    admin: address('The operators’ API. It always needs the admin token.'),
    allowedHosts: z
      .array(text('host or host:port'), { error: 'must be a list of names' })
      .meta({ description: 'Names accepted in Host and Origin beside the loopback names.' }),
  }),
  identity: z.strictObject({
    local: flag('Whether the token in the data directory stands for the user of this machine.'),
    tokens: text(
      'A file of static bearer tokens, mode 0600. With it nobody is served anonymously.',
    ).optional(),
  }),
  upstreams: z
    .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/), upstream, {
      error: 'must be a mapping of names to servers',
    })
    .meta({ description: 'The servers to stand in front of, by name.' }),
  jobTools: choice('Handle tools for hosts without Tasks.', JOB_TOOLS_SETTINGS),
  limits: z.strictObject({
    perPrincipal: z.strictObject({
      open: count('Open tasks of one principal.'),
      bytes: size('Kept requests and results of one principal; above it nothing new starts.', KEPT),
    }),
    perTenant: z.strictObject({
      open: count('Open tasks of one tenant.'),
      bytes: size('Kept requests and results of one tenant; above it nothing new starts.', KEPT),
    }),
    perTool: z.strictObject({
      running: count('Running calls of one tool.'),
      queued: count('Calls of one tool that wait for a place.'),
    }),
    queue: count('Open tasks in all.'),
    queueTime: duration('Longest wait in the queue; nothing is sent after it.', {
      minMs: 1,
      maxMs: DAY_MS,
      range: 'from 1ms to 1d',
    }),
    result: z.strictObject({
      hard: size('Largest result that is kept.', { minBytes: 1024, range: 'at least 1KiB' }),
      artifactAbove: size(
        'What is larger in a result becomes an artifact, for tools with artifacts: on.',
        { minBytes: 1024, range: 'at least 1KiB' },
      ),
    }),
    artifacts: z.strictObject({
      each: artifactBytes('Largest artifact.'),
      perPrincipal: artifactBytes('Artifacts of one principal together.'),
      perTenant: artifactBytes('Artifacts of one tenant together.'),
      total: artifactBytes('All artifacts together.'),
    }),
    request: size('Largest request body.', { minBytes: 1024, range: 'at least 1KiB' }),
    statusReads: z.strictObject({
      perSecond: count('Status reads of one principal that are answered in a second, evenly.'),
      burst: count('Status reads of one principal that are answered at once.'),
    }),
  }),
  retention: z.strictObject({
    tasks: duration(
      'How long a record stays after the latest moment at which its run could end.',
      UP_TO_30_DAYS,
    ),
    anonymous: duration('The same for anonymous callers.', UP_TO_30_DAYS),
    artifacts: duration(
      'How long an artifact stays at least, and never less than the record of its task.',
      UP_TO_30_DAYS,
    ),
    ledger: duration('How long operations are kept at least.', {
      minMs: DAY_MS,
      range: 'at least 1d',
    }),
    audit: duration('How long the audit is kept at least.', {
      minMs: DAY_MS,
      range: 'at least 1d',
    }),
  }),
  engine: z.strictObject({
    mode: choice(
      'Over stdio: background keeps the work in a process that outlives the window, inline in the window’s own.',
      ENGINE_MODES,
    ),
    idleExit: duration('When a background engine without windows and work ends.', {
      minMs: 1000,
      maxMs: 30 * DAY_MS,
      range: 'from 1s to 30d',
    }),
  }),
  redact: z.strictObject({
    patterns: z
      .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), redactPattern, {
        error: 'must be a mapping of names to patterns',
      })
      .refine((patterns) => Object.keys(patterns).length <= PATTERNS_MAX, {
        error: `must have at most ${PATTERNS_MAX} patterns`,
      })
      .meta({
        description:
          'More that is masked in status messages, errors and logs: names and patterns of RE2.',
      }),
  }),
  log: z.strictObject({
    level: choice('Least severity that is logged.', LOG_LEVELS),
    format: choice('auto: pretty on a terminal, NDJSON elsewhere.', LOG_FORMATS),
  }),
});

/** The file after reading: durations in ms, sizes in bytes, defaults laid under. */
export type ConfigFile = z.output<typeof configSchema>;
export type UpstreamEntry = z.output<typeof upstream>;
