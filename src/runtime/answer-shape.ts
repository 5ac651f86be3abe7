import { isJsonObject, objectAt, type Json, type JsonObject } from '../kernel/json.ts';
import type { InputAnswer, InputMethod, InputRequest } from '../protocol/model.ts';
import type { ContentCheck } from './content-check.ts';

type Asked = Pick<InputRequest, 'method' | 'params'>;
type Problem = string | undefined;

/**
 * Whether an answer can be one to that question: the shape of the standalone request's result, and for a form its
 * schema. What comes back says what is wrong, without repeating what was sent. An error is always an answer.
 */
export function answerProblem(asked: Asked, answer: InputAnswer, check: ContentCheck): Problem {
  if (answer.kind === 'error') {
    const { code, message } = answer.error;
    return Number.isInteger(code) && typeof message === 'string'
      ? undefined
      : 'an error needs a code and a message';
  }
  if (!isJsonObject(answer.result)) return 'the answer is no object';
  return SHAPES[asked.method](answer.result, asked.params, check);
}

type Shape = (result: JsonObject, params: JsonObject, check: ContentCheck) => Problem;

const SHAPES: Readonly<Record<InputMethod, Shape>> = {
  'elicitation/create': elicitationProblem,
  'sampling/createMessage': samplingProblem,
  'roots/list': rootsProblem,
};

function elicitationProblem(...[result, params, check]: Parameters<Shape>): Problem {
  const { action, content } = result;
  if (action === 'decline' || action === 'cancel') return undefined;
  if (action !== 'accept') return 'action must be accept, decline or cancel';
  if (params['mode'] === 'url')
    return content === undefined ? undefined : 'content has no place in an answer to a URL';
  const filled = content ?? {};
  if (!isJsonObject(filled)) return 'content must be an object';
  const schema = objectAt(params, 'requestedSchema');
  return schema ? check(schema, filled) : undefined;
}

const isBlock = (value: Json): boolean => isJsonObject(value) && typeof value['type'] === 'string';

function samplingProblem(result: JsonObject): Problem {
  const { role, content, model } = result;
  if (role !== 'user' && role !== 'assistant') return 'role must be user or assistant';
  if (typeof model !== 'string') return 'model must be a string';
  const blocks: readonly Json[] = Array.isArray(content) ? content : [content ?? null];
  return blocks.every(isBlock) ? undefined : 'content must be a content block or a list of them';
}

function rootsProblem({ roots }: JsonObject): Problem {
  const isRoot = (root: Json): boolean => isJsonObject(root) && typeof root['uri'] === 'string';
  return Array.isArray(roots) && roots.every(isRoot)
    ? undefined
    : 'roots must be a list of objects with a uri';
}
