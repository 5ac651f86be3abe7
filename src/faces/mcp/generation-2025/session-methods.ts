import type { Face } from '../face.ts';
import { invalidParams } from '../failures.ts';
import { isLogLevel } from '../../../protocol/log-level.ts';
import { resultReply } from '../reply.ts';
import { listTools } from '../tool-list.ts';
import type { SessionMethod } from './request.ts';

function readUri({ uri }: Parameters<SessionMethod>[0]['params']): string {
  if (typeof uri !== 'string') throw invalidParams('uri must be a string');
  return uri;
}

/** What a session answers itself, beside tools/call and Tasks. */
export function createSessionMethods(face: Face): Readonly<Record<string, SessionMethod>> {
  return {
    ping: async () => resultReply({}),
    'tools/list': async ({ session, principal, params }) => {
      const { generation } = session;
      return resultReply(listTools(face, { principal, generation, tasks: false }, params));
    },
    'logging/setLevel': async ({ session, principal, params }) => {
      const { level } = params;
      if (!isLogLevel(level)) throw invalidParams('level must be one of the RFC 5424 levels');
      await face.surface.setLogLevel(principal, level);
      session.setLogLevel(level);
      return resultReply({});
    },
    'resources/subscribe': async ({ session, principal, params }) => {
      const uri = readUri(params);
      const stop = await face.resources.watch(principal, uri);
      session.watch(uri, stop);
      return resultReply({});
    },
    'resources/unsubscribe': async ({ session, params }) => {
      session.unwatch(readUri(params));
      return resultReply({});
    },
  };
}
