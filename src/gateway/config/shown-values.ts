import type { Json } from '../../kernel/json.ts';
import { maskSecrets } from '../../kernel/redact/redact.ts';
import type { ConfigPath } from './problems.ts';

const HIDDEN = '[hidden]';
/** A reference to the environment, alone or behind a scheme such as `Bearer`, is no secret itself. */
const REFERENCE = /^(?:[A-Za-z]+ )?\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;
const SECRET_NAME = /key|token|secret|passw|auth|credential/i;

/** A value of the configuration as it may be shown: what is a secret, or looks like one, is `[hidden]`. */
export function shownValue(path: ConfigPath, value: Json): Json {
  const [root, , member] = path;
  if (root !== 'upstreams') return value;
  if ((member === 'env' || member === 'headers') && path.length > 3)
    return isReference(value) ? value : HIDDEN;
  if (member === 'url' && typeof value === 'string') return shownUrl(value);
  return member === 'command' && Array.isArray(value) ? value.map(shownArgument) : value;
}

const isReference = (value: Json): boolean => typeof value === 'string' && REFERENCE.test(value);

const shownSecret = (text: string): string => (isReference(text) ? text : HIDDEN);

/** Many servers want their key in the query. */
const shownUrl = (url: string): string =>
  url.replaceAll(
    /([?&][^=&#]*=)([^&#]*)/g,
    (_, name: string, value: string) => `${name}${shownSecret(value)}`,
  );

/** `--api-key=value`, or the value that follows on `--api-key`. */
function shownArgument(argument: Json, at: number, all: readonly Json[]): Json {
  if (typeof argument !== 'string') return argument;
  const before = all[at - 1];
  const isNamed =
    typeof before === 'string' && /^-+[^=]*$/.test(before) && SECRET_NAME.test(before);
  if (isNamed) return shownSecret(argument);
  const [, name = '', value = ''] = /^(-*[\w.-]+=)(.*)$/s.exec(argument) ?? [];
  return SECRET_NAME.test(name) ? `${name}${shownSecret(value)}` : maskSecrets(argument);
}
