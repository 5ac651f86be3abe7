import { createDeferred } from '../../kernel/deferred.ts';
import type { TaskView } from '../../protocol/codec.ts';
import type { InputRequest } from '../../protocol/model.ts';
import type { RequestSite } from '../mcp/call/request-site.ts';

/** What a bounded wait for a job came to. `gone`: there is no such job, or not any more. */
export type JobTurn =
  | { readonly kind: 'ended' | 'asked' | 'elapsed' | 'aborted'; readonly view: TaskView }
  | { readonly kind: 'gone' };

export interface JobWait {
  readonly jobId: string;
  readonly forMs: number;
  /** Whether an open question must go back to the caller now. `isNew`: asked since the wait began. */
  readonly stopsAt: (input: InputRequest, isNew: boolean) => boolean;
}

/**
 * Waits for the end of a job or for a question that its caller has to see. Questions that reach the person on another
 * way do not end the wait: it goes on while they answer.
 */
export async function awaitJob(site: RequestSite, wait: JobWait): Promise<JobTurn> {
  const { clock, receiver } = site.face;
  const { jobId, stopsAt } = wait;
  const deadline = clock.monotonic() + wait.forMs;
  const questions = hearQuestions(site, jobId);
  try {
    for (;;) {
      const asked = questions.next(); // before the look, so that no question falls between
      const view = await receiver.view(site.principal, jobId, false);
      if (!view) return { kind: 'gone' };
      if (view.task.phase === 'ended') return { kind: 'ended', view };
      if (view.inputs.some((input) => stopsAt(input, questions.heard(input.key))))
        return { kind: 'asked', view };
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0) return { kind: 'elapsed', view };
      if ((await turnOf(site, jobId, { leftMs, asked })) === 'aborted')
        return { kind: 'aborted', view };
    }
  } finally {
    questions.stop();
  }
}

interface Turn {
  readonly leftMs: number;
  readonly asked: Promise<'asked'>;
}

/** The next thing that happens; the wait for the end does not outlive it. */
async function turnOf(site: RequestSite, jobId: string, { leftMs, asked }: Turn) {
  const over = new AbortController();
  const signal = AbortSignal.any([site.signal, over.signal]);
  const options = { forMs: leftMs, signal, untilAsked: false };
  const end = site.face.receiver.wait(site.principal, jobId, options);
  const turn = await Promise.race([end, asked]);
  over.abort();
  await end;
  return turn;
}

interface HeardQuestions {
  /** Resolves with the next question that is asked. */
  next(): Promise<'asked'>;
  heard(key: string): boolean;
  stop(): void;
}

function hearQuestions({ face }: RequestSite, jobId: string): HeardQuestions {
  const keys = new Set<string>();
  let next = createDeferred<'asked'>();
  const stop = face.receiver.feed.watch(jobId, (event) => {
    if (event.kind !== 'asked') return;
    for (const { key } of event.inputs) keys.add(key);
    next.resolve('asked');
    next = createDeferred();
  });
  return { next: () => next.promise, heard: (key) => keys.has(key), stop };
}
