import type { JsonObject } from '../../src/kernel/json.ts';
import { createKit, tool } from '../faces/face-kit.ts';
import { CAPABILITIES_META, VERSION_META, WITH_TASKS } from '../faces/wire.ts';

export const GENERATIONS = ['2025-11-25', '2026-07-28'] as const;

/** A pipe to the face, on which each request names its generation. */
export async function openPipe(
  tools = [tool('gated', { mode: 'sync' }), tool('task'), tool('echo')],
) {
  const kit = await createKit({ tools });
  const { send, next, lines } = kit.stdio();
  const clientInfo = { name: 't', version: '1' };
  const open = (
    generation: string,
    id: string,
    [method, params]: readonly [string, JsonObject],
  ) => {
    const meta = {
      [VERSION_META]: '2026-07-28',
      [CAPABILITIES_META]: WITH_TASKS,
    };
    const own = generation === '2026-07-28' ? { ...params, _meta: meta } : params;
    send({ jsonrpc: '2.0', id, method, params: own });
  };
  const answerTo = (id: string): Promise<JsonObject> =>
    next((message) => message['id'] === id && message['method'] === undefined);
  send({
    jsonrpc: '2.0',
    id: 'init',
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  });
  await answerTo('init');
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const cancel = (requestId: string): void =>
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  return { kit, open, answerTo, cancel, lines };
}

export const GATED = ['tools/call', { name: 'gated', arguments: {} }] as const;
export const AS_TASK = ['tools/call', { name: 'gated', arguments: {}, task: {} }] as const;
