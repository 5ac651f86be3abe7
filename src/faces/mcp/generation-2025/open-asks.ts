import type { InputAnswer } from '../../../protocol/model.ts';
import { notification, type RpcId, type RpcResponse } from '../message.ts';
import type { AskRequest, OpenAsk, ResponseVerdict } from './session.ts';
import type { Lane } from './lane.ts';

/** Questions whose time was up that a session remembers, so that a late answer can be told what it is. */
const EXPIRED_REMEMBERED_MAX = 1000;

export type OnAnswer = (answer: InputAnswer) => Promise<ResponseVerdict> | void;

/** Our requests to one client, by the ids that we gave them. */
export interface OpenAsks {
  ask(lane: Lane, request: AskRequest, onAnswer: OnAnswer): OpenAsk;
  takeResponse(response: RpcResponse): Promise<ResponseVerdict>;
  clear(): void;
}

const TAKEN: ResponseVerdict = { kind: 'taken' };
const IGNORED: ResponseVerdict = { kind: 'ignored' };
const EXPIRED: ResponseVerdict = { kind: 'expired' };

export function createOpenAsks(): OpenAsks {
  const open = new Map<RpcId, OnAnswer>();
  const expired = new Set<RpcId>();
  let asked = 0;
  const rememberExpired = (id: RpcId): void => {
    expired.add(id);
    const [oldest] = expired;
    if (expired.size > EXPIRED_REMEMBERED_MAX && oldest !== undefined) expired.delete(oldest);
  };
  return {
    ask(lane, request, onAnswer) {
      asked += 1;
      const id = `longcall-${asked}`;
      open.set(id, onAnswer);
      const sent = lane.send({ jsonrpc: '2.0', id, ...request });
      const supersede = (): void => {
        open.delete(id);
        sent.takeBack();
      };
      const cancel = (reason: string): void => {
        supersede();
        if (lane.isOpen())
          lane.send(notification('notifications/cancelled', { requestId: id, reason }));
      };
      return {
        supersede,
        cancel,
        expire(reason) {
          if (open.has(id)) rememberExpired(id);
          cancel(reason);
        },
      };
    },
    async takeResponse({ id, answer }) {
      const onAnswer = open.get(id);
      if (!onAnswer) return expired.has(id) ? EXPIRED : IGNORED;
      open.delete(id);
      return (await onAnswer(answer)) ?? TAKEN;
    },
    clear() {
      open.clear();
      expired.clear();
    },
  };
}
