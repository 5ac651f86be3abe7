import { isIdentified, type Principal } from '../identity/principal.ts';
import { mayOn } from '../identity/permissions.ts';
import type { InputRequest } from '../protocol/model.ts';
import { accessOf, type Core } from './core.ts';
import { pageAnswer } from './page-content.ts';
import type { ConfirmationWord, Confirmed, Receiver } from './receiver.ts';

const UNKNOWN: Confirmed = { kind: 'unknown' };

/** Refused confirmations that are remembered, so that one who goes on trying fills the record of events with one line. */
const NOTED_MAX = 1000;

/**
 * The word of a page. It counts once, until its deadline, and only in the name of whoever was sent there: for anybody
 * else the question stays open and the answer is that of an unknown token (G1-61, G2-80). A page may be faster than the
 * client's own `accept`.
 */
export function createConfirm(core: Core): Receiver['confirm'] {
  const { store, confirmations, vault, desk, announcer, engine } = core;
  const noteStranger = createStrangerNotes(core);

  const take = async (principal: Principal, { hash, input, word }: Taking): Promise<Confirmed> => {
    const answer = pageAnswer(vault, input, word);
    const answered = await store.inputs.confirm(accessOf(principal), hash, answer);
    if (answered.kind === 'missing' || answered.taken.length === 0) return UNKNOWN;
    const { taskId, key } = input;
    desk.reply(key, { kind: 'answer', answer });
    announcer.confirmed(taskId, key);
    announcer.closed(taskId, [key], 'answered');
    announcer.changed(answered.task);
    if (answered.resumed) engine.wake();
    return { kind: 'confirmed' };
  };
  return async (principal, token, word) => {
    // Callers that nothing tells apart cannot be told from the wrong one (decision 3).
    if (!isIdentified(principal)) return UNKNOWN;
    const hash = confirmations.hashOf(token);
    const access = accessOf(principal);
    const input = await store.inputs.findByConfirmation(access, hash);
    const task = input && (await store.tasks.get(access, input.taskId));
    if (!input || !task || !mayOn(principal, 'task.answer', task)) {
      await noteStranger(principal, hash);
      return UNKNOWN;
    }
    return take(principal, { hash, input, word });
  };
}

interface Taking {
  readonly hash: string;
  readonly input: InputRequest;
  readonly word: ConfirmationWord;
}

/** Somebody else came with a token that is somebody's: for audit, once for each of them. */
function createStrangerNotes({ store }: Core) {
  const noted = new Set<string>();
  return async (principal: Principal, hash: string): Promise<void> => {
    const mark = `${principal.key} ${hash}`;
    if (noted.has(mark)) return;
    const input = await store.inputs.findByConfirmation('system', hash);
    const task = input && (await store.tasks.get('system', input.taskId));
    if (!task) return;
    noted.add(mark);
    const [oldest] = noted;
    if (noted.size > NOTED_MAX && oldest !== undefined) noted.delete(oldest);
    await store.events.append({
      type: 'task.confirmation_refused',
      tenant: task.tenant,
      actor: principal.key,
      taskId: task.id,
      reason: input.key,
    });
  };
}
