import { hasScope } from '../../identity/permissions.ts';
import { messageOf } from '../../kernel/logger.ts';
import { accessOf, type Core } from '../core.ts';
import type { Receiver } from '../receiver.ts';
import type { ArtifactKeeper } from './keeper.ts';
import { INLINE_BYTES_MAX, presentBounded } from './present-bounded.ts';

export function createOpenArtifact({ keeper }: Core): Receiver['openArtifact'] {
  return async (principal, artifactId) => {
    if (!hasScope(principal, 'task.result')) return undefined;
    return keeper?.open(accessOf(principal), artifactId);
  };
}

/** A keeper for presentations: what cannot be kept now is not kept, since the outcome itself is safe. */
function forgiving(keeper: ArtifactKeeper, logger: Core['logger']): ArtifactKeeper {
  return {
    ...keeper,
    keep: (content) =>
      keeper.keep(content).catch((thrown: unknown) => {
        logger.warn('artifact.keep_failed', { problem: messageOf(thrown) });
        return { kind: 'full', limit: 'totalBytes' };
      }),
  };
}

export function createPresentBounded({ keeper, logger }: Core): Receiver['presentBounded'] {
  const forgivingKeeper = keeper && forgiving(keeper, logger);
  return (view, maxBytes = INLINE_BYTES_MAX) =>
    presentBounded({ keeper: forgivingKeeper, task: view.task, maxBytes }, view);
}
