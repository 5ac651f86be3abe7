import type { StatusDocument, UpstreamDocument } from '../../admin/overview-routes.ts';
import { LongcallError } from '../../kernel/errors.ts';
import { messageOf } from '../../kernel/logger.ts';
import { createAdminClient } from '../admin-client.ts';
import { locateAdmin, readEndpointFile } from '../admin-endpoint.ts';
import type { AdminFlags } from '../admin-endpoint.ts';
import type { CliIo } from '../io.ts';
import { formatSpan } from '../output/time.ts';
import { fail, ok, skipped, warn } from './finding.ts';
import type { Finding } from './finding.ts';

/** What the gateway of a data directory says of itself, or why it says nothing. */
export type GatewayState =
  | { readonly kind: 'running'; readonly status: StatusDocument }
  | { readonly kind: 'none' }
  | { readonly kind: 'silent'; readonly error: LongcallError };

/** `data`: absent where no configuration names one. */
export async function askGateway(
  io: CliIo,
  flags: AdminFlags,
  data: string | undefined,
): Promise<GatewayState> {
  const isNamed = flags.server !== undefined;
  if (!isNamed && (data === undefined || readEndpointFile(data) === undefined))
    return { kind: 'none' };
  try {
    const client = createAdminClient(
      locateAdmin({ ...flags, data: data ?? flags.data }, io),
      io.clock,
    );
    return { kind: 'running', status: await client.get<StatusDocument>('/status') };
  } catch (thrown) {
    const error =
      thrown instanceof LongcallError
        ? thrown
        : new LongcallError('LONGCALL_INTERNAL', messageOf(thrown), { cause: thrown });
    return { kind: 'silent', error };
  }
}

export function gatewayFinding(state: GatewayState): Finding {
  if (state.kind === 'none') return skipped('gateway', 'none runs here');
  if (state.kind === 'silent') {
    const { code, message, hint = 'start it again; it takes over what it left' } = state.error;
    return code === 'LONGCALL_ADMIN_UNREACHABLE'
      ? warn('gateway', { detail: message, hint })
      : fail('gateway', { detail: message, hint });
  }
  const { version, pid, uptimeMs, tasks, attempts, draining } = state.status;
  const open = tasks.working + tasks.inputRequired;
  const work = `${open} open tasks, ${attempts.queued} queued`;
  const detail = `longcall ${version}, process ${pid}, up ${formatSpan(uptimeMs)}, ${work}`;
  if (draining)
    return warn('gateway', { detail: `${detail}, stopping`, hint: 'it starts nothing new' });
  return ok('gateway', detail);
}

export function upstreamFindings(state: GatewayState): readonly Finding[] {
  if (state.kind !== 'running') return [skipped('upstreams', 'no gateway runs that could tell')];
  return state.status.upstreams.map(upstreamFinding);
}

function upstreamFinding(upstream: UpstreamDocument): Finding {
  const check = `upstream.${upstream.name}`;
  const { serverName, serverVersion, protocolVersion, transport, problem } = upstream;
  const known = [serverName, serverVersion, protocolVersion, `over ${transport}`];
  const detail = known.filter((part) => part !== null).join(' ');
  if (upstream.state === 'up') return ok(check, detail);
  const words = `${upstream.state}${problem === null ? '' : `: ${problem}`} (${detail})`;
  const hint = 'see that it starts on its own; it is tried again by itself';
  return upstream.state === 'connecting'
    ? warn(check, { detail: words, hint })
    : fail(check, { detail: words, hint });
}
