import { createDeferred } from '../../kernel/deferred.ts';
import type { RpcError } from '../../protocol/model.ts';
import { createFace, type StdioFace, type StdioFaceOptions } from './face.ts';
import { errorOfThrown } from './failures.ts';
import { createSessionService } from './generation-2025/session-service.ts';
import { createListens } from './generation-2026/listen.ts';
import { createModernService } from './generation-2026/modern-service.ts';
import type { RpcRequest } from './message.ts';
import { readLines } from './stdio/lines.ts';
import { createPipe } from './stdio/pipe.ts';
import { receiveLines } from './stdio/receive-lines.ts';
import { createStdioModern } from './stdio/stdio-modern.ts';
import { createStdioSession } from './stdio/stdio-session.ts';

/** How long requests under way may still be answered after the input has ended. */
const END_GRACE_MS = 1000;

/**
 * Serves one client over a pair of pipes, both generations. A line that cannot be read is answered and never ends the
 * process; the end of the input ends the face, and running tasks stay (decision 1).
 */
export function createStdioFace(options: StdioFaceOptions): StdioFace {
  const { input, output, principal, maxBodyBytes: maxBytes } = options;
  const face = createFace(options);
  const closed = createDeferred<void>();
  const underWay = new Set<Promise<void>>();
  const pipe = createPipe(output, () => end(0));
  const sessions = createSessionService(face);
  const service = createModernService(face);
  const listens = createListens(face);
  const modern = createStdioModern({ face, principal, pipe, service, listens });
  const session = createStdioSession({ face, principal, pipe, service: sessions });
  const onServing = (served: Promise<void>): void => {
    const done = served.finally(() => underWay.delete(done));
    underWay.add(done);
  };
  const tooManyReads = (request: RpcRequest): RpcError | undefined => {
    const tooMany = face.reads.refusal(principal, request);
    return tooMany && errorOfThrown(face, tooMany.failure);
  };
  const handlers = receiveLines({ pipe, modern, session, maxBytes, tooManyReads, onServing });

  const finish = async (): Promise<void> => {
    modern.stopAll('gone');
    session.end();
    await Promise.all(underWay);
    service.close();
    sessions.close();
    await pipe.flushed();
    await face.handles.settled();
    pipe.close();
    closed.resolve();
  };
  let ending = false;
  const end = (graceMs: number): void => {
    if (ending) return;
    ending = true;
    stopReading();
    const grace = createDeferred<void>();
    const timer = face.clock.after(graceMs, grace.resolve);
    void Promise.race([Promise.all(underWay), grace.promise]).then(() => {
      timer.cancel();
      return finish();
    });
  };
  const stopReading = readLines(input, maxBytes, { ...handlers, end: () => end(END_GRACE_MS) });
  return {
    closed: closed.promise,
    close() {
      face.close();
      end(0);
      return closed.promise;
    },
  };
}
