import type { JsonObject } from '../../../kernel/json.ts';
import type { TaskListener } from '../../../runtime/feed.ts';
import type { HeardTask } from './call-site.ts';
import { createProgressMeter } from './progress-meter.ts';
import type { RequestSite } from './request-site.ts';

/**
 * Passes progress and log of a running request on to its own stream (G1-127, G2-157). Both stop with the request; log
 * goes only to callers that want that level (G2-169).
 */
export interface Relay {
  progress(params: JsonObject): void;
  log(params: JsonObject): void;
}

export function createRelay(site: RequestSite): Relay {
  const { progressToken } = site;
  const meter = createProgressMeter();
  return {
    progress(params) {
      if (progressToken !== undefined && meter.admits(params))
        site.notify('notifications/progress', { ...params, progressToken });
    },
    log(params) {
      if (site.wantsLog(params['level'])) site.notify('notifications/message', params);
    },
  };
}

const relayEvent =
  (relay: Relay): TaskListener =>
  (event) => {
    if (event.kind === 'progress') relay.progress(event.params);
    if (event.kind === 'log') relay.log(event.params);
  };

/** The same for a call that runs as a record of ours. Returns the way to stop. */
export const relayTask = (site: RequestSite, { task, early }: HeardTask): (() => void) =>
  early.follow(task.id, relayEvent(createRelay(site)));

/** The same for a request that waits for a job of earlier. */
export const relayJob = (site: RequestSite, jobId: string): (() => void) =>
  site.face.receiver.feed.watch(jobId, relayEvent(createRelay(site)));
