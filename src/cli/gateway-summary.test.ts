import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { UpstreamStatus } from '../admin/options.ts';
import { loadConfig, type ConfigFlags } from '../gateway/config/load.ts';
import { policyOf } from '../gateway/config/policy.ts';
import type { ServedTool } from '../runtime/tool.ts';
import {
  clientConfig,
  gatewayDocument,
  renderSummary,
  type GatewayFacts,
} from './gateway-summary.ts';
import { createStyle } from './output/style.ts';

const STYLE = createStyle({ env: {}, isTty: false, columns: 80, noColour: true, ascii: false });
const NARROW = createStyle({ env: {}, isTty: true, columns: 60, noColour: true, ascii: false });

const configOf = (flags: ConfigFlags) =>
  loadConfig({
    cwd: tmpdir(),
    env: {},
    flags: { upstreams: ['node reports.js'], data: '/data', ...flags },
  }).config;

const UP: UpstreamStatus = {
  name: 'reports',
  state: 'up',
  transport: 'stdio',
  serverName: 'reports-mcp',
  serverVersion: '1.4.2',
  protocolVersion: '2025-11-25',
};

function toolNamed(name: string): ServedTool {
  const [upstream] = configOf({}).upstreams;
  if (!upstream) throw new Error('no upstream');
  return {
    ...policyOf(upstream, name),
    name,
    upstream: 'reports',
    upstreamName: name,
    definition: {},
  };
}

function facts(changes: Partial<GatewayFacts> = {}, flags: ConfigFlags = {}): GatewayFacts {
  return {
    config: configOf(flags),
    mcpUrl: 'http://127.0.0.1:8787/mcp',
    adminUrl: 'http://127.0.0.1:8788',
    localToken: 'lct_token',
    tryCommand: 'longcall tasks list',
    upstreams: [UP],
    tools: [toolNamed('export_report'), toolNamed('pay')],
    ...changes,
  };
}

describe('the summary of a start', () => {
  const text = renderSummary(facts(), STYLE);

  test('says where it is, where the data is, and what to try', () => {
    expect(text).toMatch(
      /^mcp +http:\/\/127\.0\.0\.1:8787\/mcp\nadmin +http:\/\/127\.0\.0\.1:8788\ndata +\/data\n/,
    );
    expect(text).toMatch(/\ntry +longcall tasks list\n$/);
  });

  test('shows each upstream with name, version and protocol, and each tool with mode, effect and why', () => {
    expect(text).toContain('upstream reports  reports-mcp 1.4.2 · MCP 2025-11-25 · stdio\n');
    expect(text).toMatch(/^TOOL +MODE +EFFECT +WHY$/m);
    expect(text).toMatch(
      /^export_report +task-optional +consequential +mode: default; effect: default$/m,
    );
  });

  test('holds the client configuration to paste, with the local token', () => {
    const pasted: unknown = JSON.parse(/\{[\s\S]*\n\}/.exec(text)?.[0] ?? '');
    expect(pasted).toEqual({
      mcpServers: {
        longcall: {
          type: 'http',
          url: 'http://127.0.0.1:8787/mcp',
          headers: { Authorization: 'Bearer lct_token' },
        },
      },
    });
    expect(clientConfig({ mcpUrl: 'http://x/mcp', localToken: undefined })).toEqual({
      mcpServers: { longcall: { type: 'http', url: 'http://x/mcp' } },
    });
  });

  test('says of an upstream that is not there what is known', () => {
    const down: UpstreamStatus = {
      name: 'reports',
      state: 'down',
      transport: 'http',
      problem: 'connection refused',
    };
    const said = renderSummary(facts({ upstreams: [down], tools: [] }), STYLE);
    expect(said).toContain('upstream reports  http · down · connection refused\nno tools yet\n');
  });

  test('counts the tools that it does not list', () => {
    const tools = Array.from({ length: 53 }, (_, at) => toolNamed(`tool_${at}`));
    const said = renderSummary(facts({ tools }), STYLE);
    expect(said.match(/^tool_/gm)).toHaveLength(40);
    expect(said).toContain('… and 13 more of 53 tools\n');
  });

  test('keeps to the width of a terminal', () => {
    const tools = [toolNamed('a_tool_with_a_name_that_is_much_too_long_for_a_terminal_of_60')];
    const lines = renderSummary(facts({ tools }), NARROW).split('\n');
    expect(lines.filter((line) => line.startsWith('a_tool') && line.length > 60)).toEqual([]);
  });

  test('names of peers cannot write lines or colours of their own', () => {
    const said = renderSummary(
      facts({ upstreams: [{ ...UP, serverName: 'evil\nadmin http://x\u001b[31m' }] }),
      STYLE,
    );
    expect(said).not.toContain('\u001b');
    expect(said).not.toMatch(/^admin http:\/\/x/m);
  });
});

describe('who is served', () => {
  const notes = (flags: ConfigFlags, changes: Partial<GatewayFacts> = {}): string =>
    renderSummary(facts(changes, flags), STYLE)
      .split('\n')
      .filter((line) => line.startsWith('note:'))
      .join('\n');

  test('anonymous callers are mentioned where they are served', () => {
    expect(notes({})).toContain('without a token');
  });

  test('an address that others reach is a warning of its own', () => {
    const said = notes({ listen: '0.0.0.0:1', acceptAnonymousNetwork: true });
    expect(said).toContain('can be reached by others');
    expect(said).toContain('listen.allowedHosts is empty');
  });

  test('over stdio there is one caller and nothing to say', () => {
    expect(notes({}, { mcpUrl: undefined })).toBe('');
    expect(renderSummary(facts({ mcpUrl: undefined }), STYLE)).toMatch(/^mcp +stdio\n/);
  });
});

test('the document has the same facts for programs', () => {
  expect(gatewayDocument(facts())).toMatchObject({
    url: 'http://127.0.0.1:8787/mcp',
    adminUrl: 'http://127.0.0.1:8788',
    data: '/data',
    configFile: null,
    anonymous: true,
    clientConfig: { mcpServers: { longcall: { url: 'http://127.0.0.1:8787/mcp' } } },
    upstreams: [
      {
        name: 'reports',
        state: 'up',
        serverVersion: '1.4.2',
        problem: null,
        tools: [
          {
            name: 'export_report',
            mode: 'task-optional',
            effect: 'consequential',
            why: 'mode: default; effect: default',
          },
          { name: 'pay' },
        ],
      },
    ],
  });
});
