import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasScope } from '../../../identity/permissions.ts';
import type { Principal } from '../../../identity/principal.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../kernel/errors.ts';
import { isJsonObject, stringAt, type JsonObject } from '../../../kernel/json.ts';
import {
  CONFIRMATION_ACTIONS,
  type ConfirmationWord,
  type Receiver,
} from '../../../runtime/receiver.ts';
import { readJsonText } from '../json-text.ts';
import { sendJson } from './answer.ts';
import { readBody } from './body.ts';

/** Where pages confirm, beside `/mcp`. */
export const CONFIRM_PATH = '/confirm';

/** What a page may send along is kept encrypted in one row; it is no way to carry files. */
const BODY_BYTES_MAX = 64 * 1024;
const TOKEN_CHARS_MAX = 200;

export interface ConfirmVisit {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Whom the caller has proved to be; host and origin were looked at before. */
  readonly principal: Principal;
}

interface Word extends ConfirmationWord {
  readonly token: string;
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

const usage = (status: number, message: string): Refusal => ({
  status,
  code: 'LONGCALL_USAGE',
  message,
});

/** Not told apart: whoever holds a token of somebody else's learns nothing about it (G1-61). */
const UNKNOWN: Refusal = {
  status: 404,
  code: 'LONGCALL_CONFIRMATION_UNKNOWN',
  message: 'no question waits for this confirmation: it is unknown, used, late, or another user’s',
};

function refuse(res: ServerResponse, { status, code, message }: Refusal): void {
  const { retryable } = ERROR_CATALOGUE[code];
  const headers = status === 405 ? { allow: 'POST' } : {};
  void sendJson(res, { error: { code, message, hint: null, retryable } }, { status, headers });
}

const isRefusal = (read: Word | Refusal): read is Refusal => 'status' in read;

function wordOf(value: unknown): Word | Refusal {
  if (!isJsonObject(value)) return usage(400, 'the body must be an object');
  const token = stringAt(value, 'token') ?? '';
  const action = CONFIRMATION_ACTIONS.find((known) => known === value['action']);
  const { content } = value;
  if (token === '' || token.length > TOKEN_CHARS_MAX)
    return usage(400, 'token must be the text that the page was given');
  if (action === undefined)
    return usage(400, `action must be one of ${CONFIRMATION_ACTIONS.join(', ')}`);
  if (content === undefined) return { token, action };
  return isJsonObject(content)
    ? { token, action, content }
    : usage(400, 'content must be an object');
}

async function readWord(req: IncomingMessage): Promise<Word | Refusal> {
  if (!/^application\/json\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    return usage(415, 'Content-Type must be application/json');
  const body = await readBody(req, BODY_BYTES_MAX);
  if (body.kind === 'too_large') return usage(413, `the body has at most ${BODY_BYTES_MAX} bytes`);
  const json = body.kind === 'text' ? readJsonText(body.text) : body;
  return json.kind === 'value' ? wordOf(json.value) : usage(400, 'the body is no JSON');
}

const CONFIRMED: JsonObject = { status: 'confirmed' };

/**
 * `POST /confirm`: the word of a page, from the page's own server or the owner's client, with a bearer token of the same
 * person as the call's. No page of a browser may call it from elsewhere: no CORS header is ever sent.
 */
export async function serveConfirm(
  receiver: Pick<Receiver, 'confirm'>,
  { req, res, principal }: ConfirmVisit,
): Promise<void> {
  if (req.method !== 'POST') return refuse(res, usage(405, 'confirmations are sent with POST'));
  if (!hasScope(principal, 'task.answer'))
    return refuse(res, usage(403, 'the credential lacks the scope task.answer'));
  const word = await readWord(req);
  if (isRefusal(word)) return refuse(res, word);
  const { token, ...said } = word;
  const confirmed = await receiver.confirm(principal, token, said);
  if (confirmed.kind === 'unknown') return refuse(res, UNKNOWN);
  void sendJson(res, CONFIRMED);
}
