import { isJsonObject, objectAt, type JsonObject } from '../../../kernel/json.ts';
import type { AskKind } from '../../../protocol/model.ts';
import { RPC_CODES } from '../../../protocol/names.ts';
import { RpcFailure } from '../../../runtime/surface.ts';
import { asksOf, declaresTasks } from '../client-capabilities.ts';
import { isLogLevel, type LogLevel } from '../../../protocol/log-level.ts';
import { ENVELOPE } from '../meta.ts';

export const VERSION_2026 = '2026-07-28';

/** What a request says of its caller. Good for this one request: nothing is remembered from others (G2-10, G2-11). */
export interface Envelope {
  readonly capabilities: JsonObject;
  /** Whether the Tasks extension is declared (G2-04, G2-175). */
  readonly tasks: boolean;
  readonly asks: readonly AskKind[];
  /** No log message is sent unless one is set (G2-169). */
  readonly logLevel: LogLevel | undefined;
}

/** A message with this member speaks 2026-07-28 or later, whatever else is wrong with it. */
export const hasEnvelope = (params: JsonObject): boolean =>
  Object.hasOwn(objectAt(params, '_meta') ?? {}, ENVELOPE.version);

const missing = (member: string): RpcFailure =>
  new RpcFailure(
    RPC_CODES.invalidParams,
    `invalid params: _meta["${member}"] is missing or of the wrong type`,
    { missing: [member] },
  );

const unsupported = (requested: string): RpcFailure =>
  new RpcFailure(
    RPC_CODES.unsupportedVersion,
    `protocol version ${requested.slice(0, 40)} is not served here`,
    {
      supported: [VERSION_2026],
      requested,
    },
  );

/** G2-122, then G2-120. */
export function readEnvelope(params: JsonObject): Envelope {
  const meta = objectAt(params, '_meta') ?? {};
  const version = meta[ENVELOPE.version];
  const capabilities = meta[ENVELOPE.capabilities];
  if (typeof version !== 'string') throw missing(ENVELOPE.version);
  if (!isJsonObject(capabilities)) throw missing(ENVELOPE.capabilities);
  if (version !== VERSION_2026) throw unsupported(version);
  const logLevel = meta[ENVELOPE.logLevel];
  return {
    capabilities,
    tasks: declaresTasks(capabilities),
    asks: asksOf(capabilities),
    logLevel: isLogLevel(logLevel) ? logLevel : undefined,
  };
}
