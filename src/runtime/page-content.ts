import type { JsonObject } from '../kernel/json.ts';
import { stringAt } from '../kernel/json.ts';
import type { Vault } from '../kernel/vault.ts';
import { isSealedClass } from '../protocol/field-class.ts';
import type { InputAnswer, InputRequest } from '../protocol/model.ts';
import type { ConfirmationWord } from './receiver.ts';

/** The one field of a page's policy: the class of all that it sends along. */
export const PAGE_CONTENT = 'content';

/** The status while the page's word is waited for: nothing of the page itself (decision 13). */
export const PAGE_OPEN_MESSAGE = 'waiting for the page to confirm';

const SEALED = 'sealed';

/** Whether a question is a page that has to confirm to us: an upstream's own page answers to its upstream. */
export const isPageOfOurs = ({
  params,
  policy,
}: Pick<InputRequest, 'params' | 'policy'>): boolean =>
  params['mode'] === 'url' && policy?.fields[PAGE_CONTENT] !== undefined;

/** What a sealed value belongs to: it opens for this question of this task alone. */
export const sealedFor = (taskId: string, key: string): string => `${taskId}\n${key}`;

/** The encrypted text of what a page has sent, where its class asked for that. */
export const sealedContentOf = (result: JsonObject): string | undefined => stringAt(result, SEALED);

/** A page's word as it is stored. Sealed unless the question says that it need not be. */
export function pageAnswer(
  vault: Vault,
  { taskId, key, policy }: InputRequest,
  { action, content }: ConfirmationWord,
): InputAnswer {
  if (action !== 'confirm' || content === undefined) return { kind: 'result', result: { action } };
  const isOpen = policy !== undefined && !isSealedClass(policy.fields[PAGE_CONTENT] ?? 'secret');
  const kept: JsonObject = isOpen
    ? { content }
    : { [SEALED]: vault.seal(content, sealedFor(taskId, key)) };
  return { kind: 'result', result: { action, ...kept } };
}
