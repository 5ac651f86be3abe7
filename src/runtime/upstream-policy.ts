import { objectAt, type JsonObject } from '../kernel/json.ts';
import { inferredClasses } from '../protocol/field-class.ts';
import type { InputPolicy } from '../protocol/model.ts';

/**
 * How the question of an upstream is treated, which says nothing about it itself: classes as its form tells them, no
 * model may answer it, and nobody answering is never a yes.
 */
export function policyOfUpstream(params: JsonObject): InputPolicy {
  const schema = objectAt(params, 'requestedSchema');
  return {
    fields: inferredClasses(schema),
    answerableByModel: [],
    onExpiry: 'fail',
    approval: true,
  };
}
