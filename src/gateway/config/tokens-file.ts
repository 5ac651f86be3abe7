import { statSync } from 'node:fs';
import { z } from 'zod';
import { readPrivateFile } from '../../identity/private-file.ts';
import type { StaticToken, TokenSource } from '../../identity/static-token.ts';
import { VERBS } from '../../identity/permissions.ts';
import type { Clock } from '../../kernel/clock.ts';
import { LongcallError } from '../../kernel/errors.ts';
import { messageOf, type Logger } from '../../kernel/logger.ts';
import { valueAt } from './layers.ts';
import {
  ConfigInvalidError,
  formatProblem,
  orderProblems,
  pathText,
  type ConfigProblem,
} from './problems.ts';
import { didYouMean } from './suggest.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** How long a change of the file may go unnoticed. */
const LOOK_AGAIN_MS = 1000;

const word = z
  .string({ error: 'must be text' })
  .regex(
    /^[\u0021-\u007e\u00a1-\uffff](?:[\u0020-\u007e\u00a1-\uffff]{0,126}[\u0021-\u007e\u00a1-\uffff])?$/,
    {
      error: 'must be 1 to 128 characters on one line',
    },
  );

const knownScopes = ['*', ...new Set(VERBS.map((verb) => `${verb.split('.')[0]}.*`)), ...VERBS];

const scope = z.string({ error: 'must be text' }).superRefine((text, context) => {
  if (knownScopes.includes(text)) return;
  context.addIssue({
    code: 'custom',
    message: `there is no scope "${text.slice(0, 40)}"${didYouMean(text, knownScopes)}`,
  });
});

const expiry = z
  .string({ error: 'must be a time such as 2027-01-31T00:00:00Z' })
  .regex(/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/, {
    error: 'must be a time such as 2027-01-31T00:00:00Z',
  })
  .refine(isInCalendar, { error: 'is no date of the calendar' })
  .transform((text) => Date.parse(text));

/** The platform reads 31 February as a day in March. */
function isInCalendar(text: string): boolean {
  const day = Date.parse(text.slice(0, 10));
  return (
    Number.isFinite(Date.parse(text)) && new Date(day).toISOString().startsWith(text.slice(0, 10))
  );
}

const entrySchema = z.strictObject({
  name: word,
  sha256: z.string({ error: 'must be text; put it in quotes' }).regex(/^[0-9a-fA-F]{64}$/, {
    error: 'must be the SHA-256 of the token in 64 hexadecimal digits, not the token',
  }),
  subject: word,
  tenant: word,
  client: word.optional(),
  scopes: z.array(scope, { error: 'must be a list of scopes' }).optional(),
  expires: expiry.optional(),
});

const listSchema = z.array(entrySchema, { error: 'must be a list of tokens' });

/** What a tokens file says. `file` goes into messages. Throws ConfigInvalidError with all that is wrong. */
export function parseTokens(text: string, file: string): readonly StaticToken[] {
  const source = readYaml({ text, file });
  const root = isEmptyMapping(source.root) ? [] : source.root;
  const parsed = listSchema.safeParse(root);
  const issues = parsed.success
    ? repeated(parsed.data, source)
    : parsed.error.issues.flatMap((issue) => problemsOf(issue, source));
  const problems = orderProblems(source.problems.length > 0 ? source.problems : issues);
  if (problems.length > 0 || !parsed.success) throw new ConfigInvalidError(problems);
  return parsed.data.map(tokenOf);
}

const isEmptyMapping = (root: unknown): boolean =>
  typeof root === 'object' &&
  root !== null &&
  !Array.isArray(root) &&
  Object.keys(root).length === 0;

type Entry = z.output<typeof entrySchema>;

function tokenOf({ name, sha256, subject, tenant, client, scopes, expires }: Entry): StaticToken {
  return {
    name,
    digest: Buffer.from(sha256, 'hex'),
    subject,
    tenant,
    scopes: scopes ?? ['*'],
    ...(client === undefined ? {} : { client }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
}

function problemsOf(issue: z.core.$ZodIssue, source: YamlSource): readonly ConfigProblem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code !== 'unrecognized_keys') {
    return [
      {
        ...source.valueAt(path),
        path: pathText(path),
        message: messageFor(issue, valueAt(source.root, path)),
      },
    ];
  }
  return issue.keys.map((key) => {
    const at = [...path, key];
    return {
      ...source.keyAt(at),
      path: pathText(at),
      message: `unknown key${didYouMean(key, Object.keys(entrySchema.shape))}`,
    };
  });
}

function messageFor(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'is missing';
  return issue.code === 'invalid_type' && issue.expected === 'object'
    ? 'must be a mapping'
    : issue.message;
}

/** The same token twice would make two people one. */
function repeated(entries: readonly Entry[], source: YamlSource): readonly ConfigProblem[] {
  return (['name', 'sha256'] as const).flatMap((key) => {
    const seen = new Set<string>();
    return entries.flatMap((entry, at) => {
      const value = entry[key].toLowerCase();
      if (!seen.has(value)) {
        seen.add(value);
        return [];
      }
      return [
        {
          ...source.valueAt([at, key]),
          path: pathText([at, key]),
          message: 'is the same as in an entry above',
        },
      ];
    });
  });
}

export interface TokensFileOptions {
  readonly path: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/**
 * The tokens of a file that may change while we run; a change counts within a second. A file that became unreadable,
 * unsafe or absent lets nobody in; one that is being edited and says nothing sensible leaves the tokens as they were.
 * Throws at the start for whatever is wrong.
 */
export function openTokensFile({ path, clock, logger }: TokensFileOptions): TokenSource {
  let seen = stampOf(path);
  let tokens = readTokens(path);
  let lookAt = clock.monotonic() + LOOK_AGAIN_MS;
  const reload = (): readonly StaticToken[] => {
    try {
      const fresh = readTokens(path);
      logger.info('tokens.reloaded', { path, tokens: fresh.length });
      return fresh;
    } catch (error) {
      const keeps = error instanceof ConfigInvalidError;
      const problem = keeps
        ? error.problems.slice(0, 3).map(formatProblem).join('; ')
        : messageOf(error);
      logger.error('tokens.refused', { path, problem, tokensKept: keeps ? tokens.length : 0 });
      return keeps ? tokens : [];
    }
  };
  return {
    current() {
      if (clock.monotonic() < lookAt) return tokens;
      lookAt = clock.monotonic() + LOOK_AGAIN_MS;
      const stamp = stampOf(path);
      if (stamp !== seen) tokens = reload();
      seen = stamp;
      return tokens;
    },
  };
}

/** Reads a tokens file once. Throws LONGCALL_KEY_FILE_UNSAFE, LONGCALL_CONFIG_NOT_FOUND or ConfigInvalidError. */
export function readTokens(path: string): readonly StaticToken[] {
  const content = readPrivateFile(path);
  if (content === undefined)
    throw new LongcallError(
      'LONGCALL_CONFIG_NOT_FOUND',
      `identity.tokens names ${path}, which is not there`,
      {
        hint: 'docs/reference/configuration.md shows how to make one',
      },
    );
  return parseTokens(content.toString('utf8'), path);
}

/** Everything that is wrong with a tokens file, as values; a file that cannot be used at all is one problem. */
export function tokensProblems(path: string): readonly ConfigProblem[] {
  try {
    readTokens(path);
    return [];
  } catch (error) {
    if (error instanceof ConfigInvalidError) return error.problems;
    return [{ where: path, file: path, path: '', message: messageOf(error) }];
  }
}

/** Changes with every replacement, edit or change of mode. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [ino, size, mtimeMs, ctimeMs].join(':');
  } catch {
    return 'absent';
  }
}
