import type { Principal } from '../../../identity/principal.ts';
import { isJsonObject, objectAt, type JsonObject } from '../../../kernel/json.ts';
import type { Face } from '../face.ts';
import { invalidParams } from '../failures.ts';
import { withOwnResources } from '../own-resources.ts';
import { taskCapabilities } from './task-methods.ts';
import { negotiate, type SessionVersion } from './versions.ts';

/** What a client said in `initialize`, as far as it decides something. */
export interface Greeting {
  readonly version: SessionVersion;
  readonly capabilities: JsonObject;
}

export function readInitialize(params: JsonObject): Greeting {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== 'string') throw invalidParams('protocolVersion must be a string');
  if (!isJsonObject(capabilities)) throw invalidParams('capabilities must be an object');
  if (!isJsonObject(clientInfo)) throw invalidParams('clientInfo must be an object');
  return { version: negotiate(protocolVersion), capabilities };
}

/** `tasks` is 2025-11-25's; the extension's key has no meaning before 2026-07-28 and is not shown (G2-174). */
function capabilitiesFor(face: Face, version: SessionVersion, principal: Principal): JsonObject {
  const { extensions: _, tasks: __, ...upstream } = face.surface.info().capabilities;
  const capabilities = withOwnResources(upstream);
  return version === '2025-11-25'
    ? {
        ...capabilities,
        tools: objectAt(capabilities, 'tools') ?? {},
        tasks: taskCapabilities(principal),
      }
    : capabilities;
}

/** Answers at once, from what is known of the upstreams now. */
export function initializeResult(
  face: Face,
  version: SessionVersion,
  principal: Principal,
): JsonObject {
  const { instructions } = face.surface.info();
  return {
    protocolVersion: version,
    capabilities: capabilitiesFor(face, version, principal),
    serverInfo: face.serverInfo(),
    ...(instructions === undefined ? {} : { instructions }),
  };
}
