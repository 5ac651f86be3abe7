import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { classOfField, fieldsOf, isSealedClass } from '../../protocol/field-class.ts';
import { formSchemaProblem } from '../../protocol/form-schema.ts';
import {
  FIELD_CLASSES,
  type EffectClass,
  type FieldClass,
  type InputAnswer,
  type InputPolicy,
} from '../../protocol/model.ts';
import { RPC_CODES } from '../../protocol/names.ts';
import { pageAddressProblem } from '../../protocol/page-address.ts';
import type { FoundInput, NewInput } from '../../stores/inputs.ts';
import type { IssuedConfirmation } from '../confirmations.ts';
import { createContentCheck } from '../content-check.ts';
import { PAGE_CONTENT, sealedContentOf } from '../page-content.ts';
import { RpcFailure } from '../surface.ts';
import type { FormAnswer, FormQuestion, SealedValue, UrlAnswer, UrlQuestion } from './context.ts';

/** Longest message of a question, in characters: it is shown to a person. */
const MESSAGE_CHARS_MAX = 2000;

/** Why a question cannot be asked: a mistake of the handler, said in words for its author. */
export interface QuestionProblem {
  readonly problem: string;
}

export interface AskingSite {
  /** Unique for the task's lifetime (G2-48). */
  readonly key: string;
  /** Most that the question may stay open, in ms: the tool's expiry and what is left of the input allowance. */
  readonly maxOpenMs: number;
}

export interface FormSite extends AskingSite {
  /** The tool's: nobody answering is never a yes to something consequential (decision 8). */
  readonly effect: EffectClass;
}

export interface UrlSite extends AskingSite {
  readonly confirmation: IssuedConfirmation;
  /** Nothing tells the caller from others: nobody could say whether the person at the page is the one who was sent. */
  readonly anonymous: boolean;
}

/** Whether a question could be made. */
export const isProblem = (made: NewInput | QuestionProblem): made is QuestionProblem =>
  'problem' in made;

/** Nobody answered in time, and the question said `fail`. The call fails with it unless the handler catches it. */
export class QuestionExpired extends RpcFailure {
  constructor(message: string) {
    super(RPC_CODES.internalError, message, { reason: 'input_expired' });
  }
}

/** The question went away without an answer, because whoever asked could not be reached with it any more. */
export class QuestionWithdrawn extends RpcFailure {
  constructor(message: string) {
    super(RPC_CODES.internalError, message, { reason: 'input_withdrawn' });
  }
}

/** Nobody answered in time, and the question said `cancel`: the run ends as cancelled, whatever the handler catches. */
export class QuestionCancelsRun extends Error {
  override readonly name = 'QuestionCancelsRun';
}

type Problem = string | undefined;

function firstProblem(...checks: readonly (() => Problem)[]): Problem {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function messageProblem(message: string): Problem {
  if (typeof message !== 'string' || message.trim() === '') return 'a question needs a message';
  return message.length > MESSAGE_CHARS_MAX
    ? `the message of a question has at most ${MESSAGE_CHARS_MAX} characters`
    : undefined;
}

const openMsProblem = (expiresInMs: number | undefined): Problem =>
  expiresInMs === undefined || (Number.isFinite(expiresInMs) && expiresInMs >= 1)
    ? undefined
    : 'expiresInMs must be at least 1';

/** In whole ms: the store keeps no fractions. */
const openMsOf = (expiresInMs: number | undefined, maxOpenMs: number): number =>
  Math.max(0, Math.floor(Math.min(expiresInMs ?? maxOpenMs, maxOpenMs)));

function namesProblem(form: FormQuestion, names: readonly string[], where: string): Problem {
  const fields = fieldsOf(form.schema);
  const unknown = names.find((name) => !Object.hasOwn(fields, name));
  return unknown === undefined
    ? undefined
    : `${where} names ${unknown}, which is no field of the form`;
}

/** JavaScript keeps nobody from a class that is none; taken as it is, it would leave a secret unsealed. */
function classProblem(fieldClass: FieldClass): Problem {
  return FIELD_CLASSES.includes(fieldClass)
    ? undefined
    : `a field class is one of ${FIELD_CLASSES.join(', ')}`;
}

/** A name or format that says "secret" counts, whatever class was declared beside it (G1-50, G2-69). */
function secretProblem({ schema, fields = {} }: FormQuestion): Problem {
  for (const [name, field] of Object.entries(fieldsOf(schema))) {
    const told = classOfField(name, field);
    const fieldClass = isSealedClass(told) ? told : (fields[name] ?? told);
    if (isSealedClass(fieldClass))
      return `a form must not ask for the field ${name} (${fieldClass}); use askUrl, where it never passes client or model`;
  }
  return undefined;
}

function defaultProblem({ schema, onExpiry, defaultContent }: FormQuestion): Problem {
  if (defaultContent === undefined) return undefined;
  if (onExpiry !== 'default') return 'defaultContent needs onExpiry: default';
  if (!isJsonObject(defaultContent)) return 'defaultContent must be an object';
  const misfit = createContentCheck()(schema, defaultContent);
  return misfit === undefined ? undefined : `defaultContent does not fit the form: ${misfit}`;
}

function formProblem(form: FormQuestion): Problem {
  return firstProblem(
    () => messageProblem(form.message),
    () => (isJsonObject(form.schema) ? formSchemaProblem(form.schema) : 'schema must be an object'),
    () => namesProblem(form, Object.keys(form.fields ?? {}), 'fields'),
    () => namesProblem(form, form.answerableByModel ?? [], 'answerableByModel'),
    () => firstProblem(...Object.values(form.fields ?? {}).map((each) => () => classProblem(each))),
    () => secretProblem(form),
    () => defaultProblem(form),
    () => openMsProblem(form.expiresInMs),
  );
}

/** What is named nowhere is `personal`. */
const classesOf = ({ schema, fields = {} }: FormQuestion): InputPolicy['fields'] =>
  Object.fromEntries(
    Object.keys(fieldsOf(schema)).map((name) => [name, fields[name] ?? 'personal'] as const),
  );

/** A form as the store takes it, or why it cannot be asked. */
export function newFormInput(form: FormQuestion, site: FormSite): NewInput | QuestionProblem {
  const problem = formProblem(form);
  if (problem !== undefined) return { problem };
  const { message, schema, defaultContent, approval = true } = form;
  return {
    key: site.key,
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: schema },
    openMs: openMsOf(form.expiresInMs, site.maxOpenMs),
    policy: {
      fields: classesOf(form),
      answerableByModel: form.answerableByModel ?? [],
      onExpiry: form.onExpiry ?? 'fail',
      approval: approval || site.effect === 'consequential',
      ...(defaultContent === undefined ? {} : { defaultContent }),
    },
  };
}

/** G1-61, G2-80: a page is for one person, who has to be told from others when it confirms. */
const NOBODY_IN_PARTICULAR =
  'a page needs a caller with an identity: connect with a token, or over stdio';

/** A page as the store takes it, or why nobody can be sent there. `url` is called once. */
export function newUrlInput(question: UrlQuestion, site: UrlSite): NewInput | QuestionProblem {
  const { message, fieldClass = 'secret', onExpiry = 'fail' } = question;
  const before = firstProblem(
    () => (site.anonymous ? NOBODY_IN_PARTICULAR : undefined),
    () => messageProblem(message),
    () => classProblem(fieldClass),
    () => openMsProblem(question.expiresInMs),
  );
  if (before !== undefined) return { problem: before };
  const url = question.url(site.confirmation.confirmation);
  const problem = pageAddressProblem(url);
  if (problem !== undefined) return { problem };
  return {
    key: site.key,
    method: 'elicitation/create',
    params: { mode: 'url', message, url },
    openMs: openMsOf(question.expiresInMs, site.maxOpenMs),
    policy: { fields: pageFields(fieldClass), answerableByModel: [], onExpiry, approval: true },
    confirmationHash: site.confirmation.hash,
  };
}

const pageFields = (fieldClass: FieldClass): InputPolicy['fields'] => ({
  [PAGE_CONTENT]: fieldClass,
});

/** Why there is no answer: always thrown, except where the question has a harmless way to go on. */
function unanswered({ input, closedBecause }: FoundInput): never {
  if (input.state !== 'expired') {
    const why = closedBecause === undefined ? '' : ` (${closedBecause})`;
    throw new QuestionWithdrawn(`the question was withdrawn before it was answered${why}`);
  }
  if (input.policy?.onExpiry === 'cancel')
    throw new QuestionCancelsRun('nobody answered in time: the call is cancelled');
  throw new QuestionExpired('nobody answered in time');
}

function resultOf(answer: InputAnswer): JsonObject {
  // A client that answers with an error has not chosen anything.
  return answer.kind === 'result' ? answer.result : { action: 'cancel' };
}

const refusalOf = (result: JsonObject): { readonly action: 'decline' | 'cancel' } => ({
  action: result['action'] === 'decline' ? 'decline' : 'cancel',
});

/**
 * What became of a form that is not open any more. Throws QuestionExpired, QuestionWithdrawn, or QuestionCancelsRun,
 * which ends the run as cancelled.
 */
export function formAnswerOf(found: FoundInput, _form: FormQuestion): FormAnswer {
  const { input, answer } = found;
  if (answer !== undefined) {
    const result = resultOf(answer);
    if (result['action'] !== 'accept') return refusalOf(result);
    const { content } = result;
    return { action: 'accept', content: isJsonObject(content) ? content : {} };
  }
  const policy = input.policy;
  if (input.state !== 'expired' || policy?.onExpiry !== 'default') return unanswered(found);
  const content = policy.approval ? undefined : policy.defaultContent;
  return content === undefined ? { action: 'nobody' } : { action: 'nobody', content };
}

/** Makes the value that a journalled step may see, of its encrypted text. */
export type Unseal = (sealed: string) => SealedValue;

/** The same for a page. `declined`, `cancelled` by the owner or by the page; otherwise the page has confirmed. */
export function urlAnswerOf(found: FoundInput, _question: UrlQuestion, unseal: Unseal): UrlAnswer {
  const { answer } = found;
  if (answer === undefined) return unanswered(found);
  const result = resultOf(answer);
  if (result['action'] !== 'confirm') return refusalOf(result);
  const sealed = sealedContentOf(result);
  if (sealed !== undefined) return { action: 'confirmed', sealed: unseal(sealed) };
  const { content } = result;
  return isJsonObject(content) ? { action: 'confirmed', content } : { action: 'confirmed' };
}
