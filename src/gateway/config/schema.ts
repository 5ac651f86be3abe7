import { z } from 'zod';
import { EFFECT_CLASSES } from '../../protocol/model.ts';
import { TOOL_MODES } from '../../runtime/tool.ts';
import { SHARINGS } from '../options.ts';
import { LOG_FORMATS, LOG_LEVELS } from './config.ts';
import { address, choice, count, duration, flag, size } from './scalars.ts';

/**
 * The configuration file, key by key. What a key means to people is its description here; from this the JSON Schema
 * is made. Defaults are in defaults.ts, rules over several keys in rules.ts.
 */

const DAY_MS = 86_400_000;
const UP_TO_30_DAYS = { minMs: 1, maxMs: 30 * DAY_MS, range: 'more than 0 and at most 30d' };
const text = (about: string) =>
  z
    .string({ error: 'must be text' })
    .min(1, { error: 'must not be empty' })
    .meta({ description: about });

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
    plainLimit: duration(
      'Longest wait of a caller that cannot take a handle.',
      UP_TO_30_DAYS,
    ).optional(),
    runLimit: duration('Longest run.', UP_TO_30_DAYS).optional(),
    inputAllowance: duration('Time for questions, over the whole call.', UP_TO_30_DAYS).optional(),
    inputExpiry: duration('How long one question stays open.', UP_TO_30_DAYS).optional(),
    retention: duration('How long the record stays after the run.', UP_TO_30_DAYS).optional(),
    pollInterval: duration('The hint to callers how often to ask.', {
      minMs: 10,
      maxMs: 3_600_000,
      range: 'from 10ms to 1h',
    }).optional(),
    concurrency: count('Most running calls of the tool.').optional(),
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
  jobTools: z
    .literal('off', { error: 'only off is available in this version' })
    .meta({ description: 'Handle tools for hosts without Tasks.' }),
  limits: z.strictObject({
    perPrincipal: z.strictObject({ open: count('Open tasks of one principal.') }),
    perTenant: z.strictObject({ open: count('Open tasks of one tenant.') }),
    perTool: z.strictObject({ running: count('Running calls of one tool.') }),
    queue: count('Open tasks in all.'),
    queueTime: duration('Longest wait in the queue; nothing is sent after it.', {
      minMs: 1,
      maxMs: DAY_MS,
      range: 'from 1ms to 1d',
    }),
    result: z.strictObject({
      hard: size('Largest result that is kept.', { minBytes: 1024, range: 'at least 1KiB' }),
    }),
    request: size('Largest request body.', { minBytes: 1024, range: 'at least 1KiB' }),
  }),
  retention: z.strictObject({
    tasks: duration(
      'How long a record stays after the latest moment at which its run could end.',
      UP_TO_30_DAYS,
    ),
    anonymous: duration('The same for anonymous callers.', UP_TO_30_DAYS),
    ledger: duration('How long operations are kept at least.', {
      minMs: DAY_MS,
      range: 'at least 1d',
    }),
    audit: duration('How long the audit is kept at least.', {
      minMs: DAY_MS,
      range: 'at least 1d',
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
