import { upstreamDocument } from '../admin/overview-routes.ts';
import type { UpstreamStatus } from '../admin/options.ts';
import { isLoopback, isWildcard } from '../gateway/config/address.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import type { ServedTool } from '../runtime/tool.ts';
import type { Style, Tone } from './output/style.ts';
import { renderFacts, renderTable, type Fact } from './output/table.ts';
import { oneLine } from './output/text-width.ts';

/** How many tools of one upstream are listed; the others are counted. */
const TOOLS_SHOWN_MAX = 40;

/** What a started gateway knows of itself. */
export interface GatewayFacts {
  readonly config: GatewayConfig;
  /** The configuration file; absent where there is none. */
  readonly file?: string | undefined;
  /** Absent over stdio. */
  readonly mcpUrl?: string | undefined;
  readonly adminUrl: string;
  /** Absent where the local user is not served over HTTP. */
  readonly localToken?: string | undefined;
  readonly upstreams: readonly UpstreamStatus[];
  readonly tools: readonly ServedTool[];
  /** A command that shows what runs here, to be started where this one was. */
  readonly tryCommand: string;
}

/** What a client has to be told, in the form that hosts read. */
export function clientConfig({ mcpUrl, localToken }: Pick<GatewayFacts, 'mcpUrl' | 'localToken'>) {
  const headers =
    localToken === undefined ? {} : { headers: { Authorization: `Bearer ${localToken}` } };
  return { mcpServers: { longcall: { type: 'http', url: mcpUrl, ...headers } } };
}

/** The facts as a document, for programs. */
export function gatewayDocument({
  config,
  file,
  mcpUrl,
  adminUrl,
  localToken,
  upstreams,
  tools,
}: GatewayFacts) {
  return {
    url: mcpUrl ?? null,
    adminUrl,
    data: config.data,
    configFile: file ?? null,
    anonymous: config.identity.allowAnonymous,
    clientConfig: mcpUrl === undefined ? null : clientConfig({ mcpUrl, localToken }),
    upstreams: upstreams.map((upstream) => ({
      ...upstreamDocument(upstream),
      tools: toolsOf(tools, upstream).map(({ name, mode, effect, why }) => ({
        name,
        mode,
        effect,
        why,
      })),
    })),
  };
}

const toolsOf = (tools: readonly ServedTool[], { name }: UpstreamStatus): readonly ServedTool[] =>
  tools.filter(({ upstream }) => upstream === name);

/** The facts for the person who started it: where it is, what it serves and why, what to do next. */
export function renderSummary(facts: GatewayFacts, style: Style): string {
  const parts = [
    renderFacts(whereFacts(facts), style),
    ...facts.upstreams.map((upstream) =>
      renderUpstream(upstream, toolsOf(facts.tools, upstream), style),
    ),
    ...(facts.mcpUrl === undefined ? [] : [renderClientConfig(facts, style)]),
    ...notesOf(facts).map((note) => `${note}\n`),
    `try     ${facts.tryCommand}\n`,
  ];
  return parts.join('\n');
}

function whereFacts({ config, file, mcpUrl, adminUrl }: GatewayFacts): readonly Fact[] {
  return [
    ['mcp', { text: mcpUrl ?? 'stdio', tone: 'good' }],
    ['admin', { text: adminUrl }],
    ['data', { text: config.data }],
    ['config', { text: file ?? 'none: defaults, environment and flags' }],
  ];
}

const STATE_TONES: Readonly<Record<UpstreamStatus['state'], Tone>> = {
  up: 'good',
  connecting: 'active',
  down: 'bad',
};

function renderUpstream(
  upstream: UpstreamStatus,
  tools: readonly ServedTool[],
  style: Style,
): string {
  const { name, state, transport, serverName, serverVersion, protocolVersion, problem } = upstream;
  const peer = [serverName, serverVersion].filter((part) => part !== undefined).join(' ');
  const facts = [
    peer,
    protocolVersion === undefined ? '' : `MCP ${protocolVersion}`,
    transport,
    state === 'up' ? '' : state,
    problem ?? '',
  ];
  const said = facts
    .filter((fact) => fact !== '')
    .map(oneLine)
    .join(' · ');
  const head = `${style.paint('title', `upstream ${name}`)}  ${style.paint(STATE_TONES[state], said)}\n`;
  const shown = tools.slice(0, TOOLS_SHOWN_MAX);
  const left = tools.length - shown.length;
  const rest = left > 0 ? `${style.ellipsis} and ${left} more of ${tools.length} tools\n` : '';
  return head + (shown.length === 0 ? 'no tools yet\n' : renderTools(shown, style)) + rest;
}

function renderTools(tools: readonly ServedTool[], style: Style): string {
  const columns = [
    { title: 'TOOL', narrowest: 12 },
    { title: 'MODE' },
    { title: 'EFFECT' },
    { title: 'WHY', narrowest: 16 },
  ];
  return renderTable(
    columns,
    tools.map(({ name, mode, effect, why }) => [
      { text: name },
      { text: mode, tone: mode === 'refuse' ? 'bad' : 'plain' },
      { text: effect },
      { text: why, tone: 'quiet' },
    ]),
    style,
  );
}

function renderClientConfig(facts: GatewayFacts, style: Style): string {
  const title = style.paint('title', 'for the configuration of your MCP client');
  return `${title}\n${JSON.stringify(clientConfig(facts), undefined, 2)}\n`;
}

function notesOf({ config, mcpUrl, localToken }: GatewayFacts): readonly string[] {
  if (mcpUrl === undefined) return [];
  const { listen, identity } = config;
  const notes: string[] = [];
  if (identity.allowAnonymous)
    notes.push(
      'note: callers without a token are served too, as nobody in particular: no list, and their tasks end sooner',
    );
  if (identity.allowAnonymous && !isLoopback(listen.mcp.host))
    notes.push(
      `note: ${listen.mcp.host} can be reached by others, and anybody who reaches it can start tools`,
    );
  if (isWildcard(listen.mcp.host) && listen.allowedHosts.length === 0)
    notes.push(
      'note: listen.allowedHosts is empty, so requests that name another host than this machine are refused',
    );
  if (localToken === undefined && !identity.allowAnonymous)
    notes.push('note: callers need a token of identity.tokens');
  return notes;
}
