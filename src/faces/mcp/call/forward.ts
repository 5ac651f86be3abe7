import type { JsonObject } from '../../../kernel/json.ts';
import type { ForwardRequest } from '../../../runtime/surface.ts';
import { answerOwnResources } from '../own-resources.ts';
import { createRelay } from './relay.ts';
import type { RequestSite } from './request-site.ts';

/**
 * Passes a request on unrecorded, with its progress, its log and the questions that come back; what is about our own
 * resources is answered here.
 */
export function forward(
  site: RequestSite,
  method: string,
  onAsk?: NonNullable<ForwardRequest['onAsk']>,
): Promise<JsonObject> {
  const own = answerOwnResources(site, method);
  if (own) return own;
  const { principal, generation, params, meta, asks, signal } = site;
  const relay = createRelay(site);
  return site.face.surface.forward({
    principal,
    generation,
    method,
    params,
    meta,
    asks,
    signal,
    onLog: relay.log,
    ...(site.progressToken === undefined ? {} : { onProgress: relay.progress }),
    ...(onAsk === undefined ? {} : { onAsk }),
  });
}
