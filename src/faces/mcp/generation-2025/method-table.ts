import { isIdentified } from '../../../identity/principal.ts';
import { forward } from '../call/forward.ts';
import type { Face } from '../face.ts';
import { noSuchMethod } from '../failures.ts';
import { resultReply } from '../reply.ts';
import { askOnLane } from './ask-on-lane.ts';
import { sessionResult, siteOf, type SessionMethod, type SessionRequest } from './request.ts';
import { createSessionMethods } from './session-methods.ts';
import { createTaskMethods } from './task-methods.ts';
import { createToolCall, type ToolCallParts } from './tool-call.ts';

/** Finds who answers a request. Throws where nobody does. */
export type MethodTable = (
  request: Pick<SessionRequest, 'method' | 'session' | 'principal'>,
) => SessionMethod;

/** Methods of the life cycle and of other revisions: never an upstream's. */
const NEVER_FORWARDED: readonly string[] = [
  'initialize',
  'server/discover',
  'subscriptions/listen',
  'tasks/update',
];

/** Every method that is not ours goes upstream as it is. */
const forwarder =
  (face: Face): SessionMethod =>
  async (request) => {
    const onAsk: Parameters<typeof forward>[2] = (question) => askOnLane(request, question);
    const result = await forward(siteOf(face, request), request.method, onAsk);
    return resultReply(sessionResult(result));
  };

export function createMethodTable(parts: ToolCallParts): MethodTable {
  const { face } = parts;
  const own = new Map(Object.entries(createSessionMethods(face)));
  own.set('tools/call', createToolCall(parts));
  const tasks = new Map(Object.entries(createTaskMethods(parts)));
  const onward = forwarder(face);
  return ({ method, session, principal }) => {
    const task = tasks.get(method);
    const listable = method !== 'tasks/list' || isIdentified(principal); // G1-80: not for nobody in particular
    if (task && session.generation === '2025-11-25' && listable) return task;
    if (task || NEVER_FORWARDED.includes(method)) throw noSuchMethod(method);
    return own.get(method) ?? onward;
  };
}
