import type { Surface, SurfaceEvent } from '../runtime/surface.ts';
import { EVERYBODY } from './connection-plan.ts';
import { invalidParams, methodNotFound } from './failures.ts';
import { createForwarding } from './forwarding.ts';
import type { Listeners } from './listeners.ts';
import { isLogLevel } from '../protocol/log-level.ts';
import { plainUpstreamName } from '../protocol/upstream-name.ts';
import { applyLogLevel, type LogLevels } from './log-levels.ts';
import type { Settings } from './options.ts';
import type { OwnerSearch } from './owner-search.ts';
import type { ToolDirectory } from './served-tools.ts';
import type { Subscriptions } from './subscriptions.ts';
import { joinInfo } from './surface-info.ts';
import type { Upstream } from './upstream.ts';

export interface SurfaceParts {
  readonly settings: Settings;
  readonly upstreams: readonly Upstream[];
  readonly search: OwnerSearch;
  readonly levels: LogLevels;
  readonly subscriptions: Subscriptions;
  readonly events: Listeners<SurfaceEvent>;
  directory(): ToolDirectory;
}

/** What the upstreams offer beside tasks, joined. */
export function createSurface(parts: SurfaceParts): Surface {
  const { settings, upstreams, search, levels, subscriptions, events, directory } = parts;
  const tool = (name: string) => directory().byName.get(name);
  const { clock, requestMsMax } = settings;
  return {
    info: () =>
      joinInfo(
        upstreams.map(({ options, document }) => ({
          name: plainUpstreamName(options.name),
          document: document(),
        })),
        settings.clientInfo,
      ),
    tools: () => directory().served,
    tool,
    forward: createForwarding({ upstreams, search, levels, clock, requestMsMax, tool }),
    subscribeResource: (principal, uri) => subscriptions.subscribe(principal, uri),
    unsubscribeResource: (principal, uri) => subscriptions.unsubscribe(principal, uri),
    async setLogLevel({ key }, level) {
      if (!isLogLevel(level)) throw invalidParams(`unknown log level: ${level}`);
      const able = upstreams.filter(
        ({ document }) => document()?.capabilities['logging'] !== undefined,
      );
      if (able.length === 0) throw methodNotFound();
      if (!levels.want(key, level)) return;
      const affected = able.flatMap(({ pool }) =>
        pool.connections().flatMap((connection) => {
          const owner = pool.ownerOf(connection);
          return owner === key || owner === EVERYBODY ? [{ connection, owner }] : [];
        }),
      );
      await Promise.all(
        affected.map(({ connection, owner }) => applyLogLevel(connection, levels.levelOf(owner))),
      );
    },
    onEvent: (listener) => events.add(listener),
  };
}
