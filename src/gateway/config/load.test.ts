import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements/verifies.ts';
import { loadConfig, loadDataDirectory, validateConfig, type ConfigFlags } from './load.ts';
import { ConfigInvalidError, formatProblem } from './problems.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'longcall-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const UPSTREAM = 'upstreams: { a: { command: [node, a.js] } }\n';

interface Said {
  readonly yaml?: string;
  readonly env?: Record<string, string>;
  readonly flags?: ConfigFlags;
}

function options({ yaml, env = {}, flags = {} }: Said) {
  if (yaml !== undefined) writeFileSync(join(cwd, 'longcall.yaml'), yaml);
  return { cwd, env: { HOME: cwd, ...env }, flags };
}
const load = (said: Said) => loadConfig(options(said));
const problems = (said: Said): readonly string[] =>
  validateConfig(options(said)).problems.map(formatProblem);

describe('with nothing said', () => {
  verifies(
    ['G1-133', 'G2-162', 'G1-117'],
    'the defaults hold, and the demonstration server of a checkout is the upstream',
    () => {
      const { config, file } = load({});
      expect(file).toBeUndefined();
      expect(config).toMatchObject({
        data: join(cwd, 'longcall-data'),
        listen: {
          mcp: { host: '127.0.0.1', port: 8787 },
          admin: { host: '127.0.0.1', port: 8788 },
          allowedHosts: [],
        },
        identity: { local: true, allowAnonymous: true },
        limits: {
          openPerPrincipal: 32,
          openPerTenant: 256,
          openTotal: 1000,
          runningPerTool: 16,
          resultBytes: 16 * 1024 ** 2,
          artifactAboveBytes: 256 * 1024,
          artifacts: {
            eachBytes: 32 * 1024 ** 2,
            perPrincipalBytes: 1024 ** 3,
            perTenantBytes: 4 * 1024 ** 3,
            totalBytes: 16 * 1024 ** 3,
          },
          requestBytes: 4 * 1024 ** 2,
          statusReads: { perSecond: 100, burst: 500 },
        },
        retention: { tasksMs: 86_400_000, anonymousMs: 3_600_000, ledgerMs: 400 * 86_400_000 },
        log: { level: 'info', format: 'auto' },
      });
      expect(config.upstreams).toHaveLength(1);
      expect(config.upstreams[0]).toMatchObject({
        name: 'everything',
        prefix: '',
        trustAnnotations: true,
        connections: 'auto',
        endpoint: {
          kind: 'stdio',
          command: process.execPath,
          args: [expect.stringContaining('server-everything'), 'stdio'],
        },
        toolDefaults: {
          syncWindowMs: 2000,
          jobWindowMs: 15_000,
          plainLimitMs: 60_000,
          runLimitMs: 3_600_000,
          inputAllowanceMs: 86_400_000,
          inputExpiryMs: 3_600_000,
          retentionMs: 86_400_000,
          pollIntervalMs: 1000,
          concurrency: 16,
          artifactAbove: 256 * 1024,
        },
      });
    },
  );

  test('a command of the file is started in the folder of the file, one of a flag where longcall was started', () => {
    const inFile = load({ yaml: "upstreams: { own: { command: [node, './server.js'] } }\n" });
    expect(inFile.config.upstreams[0]?.endpoint).toMatchObject({ cwd });
    const elsewhere = join(cwd, 'elsewhere');
    mkdirSync(elsewhere);
    const file = join(cwd, 'longcall.yaml');
    const named = loadConfig({ cwd: elsewhere, env: {}, flags: { config: file } });
    expect(named.config.upstreams[0]?.endpoint).toMatchObject({ cwd });
    const flagged = loadConfig({
      cwd: elsewhere,
      env: {},
      flags: { config: file, upstreams: ['node x.js'] },
    });
    expect(flagged.config.upstreams[0]?.endpoint).toMatchObject({ cwd: elsewhere });
  });

  test('a file that names no upstream does not get the demonstration one', () => {
    expect(problems({ yaml: 'log: { level: debug }\n' })).toEqual([
      'longcall.yaml:1:1: upstreams: name at least one server, or start with --upstream',
    ]);
  });

  test('what the file leaves out is missing in the file, whatever flags there are', () => {
    expect(problems({ yaml: '', flags: { listen: '127.0.0.1:0' } })).toEqual([
      'longcall.yaml:1:1: upstreams: name at least one server, or start with --upstream',
    ]);
  });
});

describe('what a tool says about repeats', () => {
  test('where its key comes from, for how long a call without one is the same, and how many wait', () => {
    const { config } = load({
      yaml: `upstreams:
  bank:
    command: [node]
    tools:
      "*": { repeatWindow: 0, queued: 5 }
      pay: { idempotency: { argument: request_id, from: [invoice, version] }, repeatWindow: 1h }
limits: { perPrincipal: { bytes: 10MiB }, perTenant: { bytes: 2GiB }, perTool: { queued: 7 } }
`,
    });
    const [bank] = config.upstreams;
    expect(bank?.tools).toEqual({
      '*': { repeatWindowMs: 0, queueMax: 5 },
      pay: {
        idempotency: { argument: 'request_id', from: ['invoice', 'version'] },
        repeatWindowMs: 3_600_000,
      },
    });
    expect(bank?.toolDefaults).toMatchObject({ repeatWindowMs: 600_000, queueMax: 7 });
    expect(config.limits).toMatchObject({
      bytesPerPrincipal: 10 * 1024 ** 2,
      bytesPerTenant: 2 * 1024 ** 3,
    });
  });
});

describe('which word counts', () => {
  const yaml = `${UPSTREAM}data: ./from-file\nlisten: { mcp: 127.0.0.1:1, admin: 127.0.0.1:2 }\nlimits: { queue: 7 }\n`;

  test('flag before environment before file before default, value by value', () => {
    const { config, origins } = load({
      yaml,
      env: {
        LONGCALL_LISTEN_ADMIN: '127.0.0.1:22',
        LONGCALL_LISTEN_MCP: '127.0.0.1:11',
        LONGCALL_LIMITS_PER_TOOL_RUNNING: '3',
        LONGCALL_LOG_LEVEL: '',
      },
      flags: { listen: '127.0.0.1:111' },
    });
    expect(config.listen).toMatchObject({ mcp: { port: 111 }, admin: { port: 22 } });
    expect(config.limits).toMatchObject({ openTotal: 7, runningPerTool: 3, openPerTenant: 256 });
    const origin = Object.fromEntries(origins.map(({ path, origin: from }) => [path, from]));
    expect(origin).toMatchObject({
      'listen.mcp': 'flag --listen',
      'listen.admin': 'env LONGCALL_LISTEN_ADMIN',
      'limits.perTool.running': 'env LONGCALL_LIMITS_PER_TOOL_RUNNING',
      'limits.queue': 'longcall.yaml:4:18',
      data: 'longcall.yaml:2:7',
      'log.level': 'default',
      'upstreams.a.command': 'longcall.yaml:1:28',
    });
  });

  test('what holds for tools where nothing is said is shown too, with where it comes from', () => {
    const said = `upstreams:
  a: { command: [node], tools: { "*": { runLimit: 2h }, x: { effect: read } } }
  b: { url: "http://b.example/mcp", trustAnnotations: true }
`;
    const { origins, config } = load({ yaml: said });
    const shown = origins.map(
      ({ path, value, origin }) => `${path} ${JSON.stringify(value)} ${origin}`,
    );
    expect(shown).toEqual(
      expect.arrayContaining([
        'upstreams.a.prefix "a_" default',
        'upstreams.a.connections "auto" default',
        'upstreams.a.tools.*.mode "task-optional" default',
        'upstreams.a.tools.*.effect "consequential" default',
        'upstreams.a.tools.*.syncWindow "2s" default',
        'upstreams.a.tools.*.jobWindow "15s" default',
        'upstreams.a.tools.*.runLimit "2h" longcall.yaml:2:51',
        'upstreams.a.tools.*.retention "24h" retention.tasks',
        'upstreams.a.tools.*.concurrency 16 limits.perTool.running',
        'upstreams.b.tools.*.effect "by readOnlyHint" default',
      ]),
    );
    expect(config.upstreams[0]?.tools['*']).toEqual({ runLimitMs: 7_200_000 });
  });

  test('lists and truth values come from the environment too', () => {
    const { config } = load({
      yaml,
      env: {
        LONGCALL_LISTEN_ALLOWED_HOSTS: 'a.example, b.example',
        LONGCALL_IDENTITY_LOCAL: 'false',
      },
    });
    expect(config.listen.allowedHosts).toEqual(['a.example', 'b.example']);
    expect(config.identity.local).toBe(false);
  });

  test('upstreams of a flag or of the environment take the place of the file’s', () => {
    const names = (said: Said) =>
      load(said).config.upstreams.map(({ name, prefix }) => [name, prefix]);
    expect(names({ yaml })).toEqual([['a', '']]);
    expect(names({ yaml, env: { LONGCALL_UPSTREAM: 'node b.js' } })).toEqual([['b', '']]);
    expect(
      names({
        yaml,
        env: { LONGCALL_UPSTREAM: 'node b.js' },
        flags: { upstreams: ['node c.js', 'https://d.example/mcp'] },
      }),
    ).toEqual([
      ['c', 'c_'],
      ['d-example', 'd-example_'],
    ]);
  });

  test('paths of the file are meant from the file, all others from here', () => {
    mkdirSync(join(cwd, 'etc'));
    writeFileSync(join(cwd, 'etc/gate.yaml'), `${yaml}identity: { tokens: tokens.yaml }\n`);
    const flags = { config: 'etc/gate.yaml' };
    expect(load({ flags }).config).toMatchObject({
      data: join(cwd, 'etc/from-file'),
      identity: { tokens: join(cwd, 'etc/tokens.yaml') },
    });
    expect(load({ flags: { ...flags, data: 'here' } }).config.data).toBe(join(cwd, 'here'));
    expect(
      load({ flags, env: { LONGCALL_IDENTITY_TOKENS: 't.yaml' } }).config.identity.tokens,
    ).toBe(join(cwd, 't.yaml'));
  });

  test('where a value comes from never shows what the environment or a header holds', () => {
    const { origins, config } = load({
      yaml: `upstreams:
  a: { command: [node, "\${SECRET}"], env: { KEY: "\${SECRET}", PLAIN: hunter2 } }
  b: { url: "https://b.example/mcp", headers: { Authorization: "Bearer \${SECRET}", X: "x\${SECRET}y" } }
`,
      env: { SECRET: 'hunter2' },
    });
    expect(JSON.stringify(config.upstreams)).toContain('hunter2');
    expect(JSON.stringify(origins)).not.toContain('hunter2');
    const shown = Object.fromEntries(origins.map(({ path, value }) => [path, value]));
    expect(shown).toMatchObject({
      'upstreams.a.command': ['node', '${SECRET}'],
      'upstreams.a.env.KEY': '${SECRET}',
      'upstreams.a.env.PLAIN': '[hidden]',
      'upstreams.b.headers.Authorization': 'Bearer ${SECRET}',
      'upstreams.b.headers.X': '[hidden]',
    });
  });

  test('nor a secret that stands in an address or among arguments', () => {
    const { origins } = load({
      yaml: `upstreams:
  a: { command: [server, --api-key=hunter2, --token, hunter2, -H, "Authorization: Bearer hunter2hunter2", --port=80, keyring.js] }
  b: { url: "https://b.example/mcp?api_key=hunter2&ref=\${SECRET}" }
`,
      env: { SECRET: 'hunter2' },
    });
    expect(JSON.stringify(origins)).not.toContain('hunter2');
    const shown = Object.fromEntries(origins.map(({ path, value }) => [path, value]));
    expect(shown).toMatchObject({
      'upstreams.a.command': [
        'server',
        '--api-key=[hidden]',
        '--token',
        '[hidden]',
        '-H',
        'Authorization: [redacted]',
        '--port=80',
        'keyring.js',
      ],
      'upstreams.b.url': 'https://b.example/mcp?api_key=[hidden]&ref=${SECRET}',
    });
  });
});

describe('the data directory alone', () => {
  const dataOf = (said: Said): string => loadDataDirectory(options(said));

  test('is found although the rest of the configuration is wrong', () => {
    expect(dataOf({ yaml: 'data: there\nlisen: 1\nupstreams: 5\n' })).toBe(join(cwd, 'there'));
    expect(dataOf({ yaml: 'data: there\n', env: { LONGCALL_DATA: 'elsewhere' } })).toBe(
      join(cwd, 'elsewhere'),
    );
  });

  test.each(['data: 5\n', 'data: ${NOPE}\n', 'data: [\n'])('is not guessed from %j', (yaml) => {
    expect(() => dataOf({ yaml })).toThrow(ConfigInvalidError);
  });
});

describe('one tool', () => {
  test('its rule keeps only what was said, in ms', () => {
    const { config } = load({
      yaml: `upstreams:
  a:
    command: [node]
    tools:
      "*": { mode: task-optional, effect: consequential }
      export: { effect: read, runLimit: 2h, syncWindow: 0, jobWindow: 5s, fallback: [sync], plainLimit: 90s, inputAllowance: 15m, inputExpiry: 5m, retention: 7d, pollInterval: 500ms, concurrency: 5 }
retention: { tasks: 2h }
`,
    });
    expect(config.upstreams[0]?.tools).toEqual({
      '*': { mode: 'task-optional', effect: 'consequential' },
      export: {
        effect: 'read',
        runLimitMs: 7_200_000,
        syncWindowMs: 0,
        jobWindowMs: 5_000,
        fallback: ['sync'],
        plainLimitMs: 90_000,
        inputAllowanceMs: 900_000,
        inputExpiryMs: 300_000,
        retentionMs: 604_800_000,
        pollIntervalMs: 500,
        concurrency: 5,
      },
    });
    expect(config.upstreams[0]?.toolDefaults.retentionMs).toBe(7_200_000);
  });
});

describe('what is wrong', () => {
  const wrong: readonly (readonly [what: string, yaml: string, problem: string])[] = [
    [
      'an unknown key',
      `${UPSTREAM}lisen: 1\n`,
      'longcall.yaml:2:1: lisen: unknown key (did you mean "listen"?)',
    ],
    [
      'a nested one',
      `${UPSTREAM}limits: { perTool: { runing: 3 } }\n`,
      'longcall.yaml:2:22: limits.perTool.runing: unknown key (did you mean "running"?)',
    ],
    ['one that is like no other', `${UPSTREAM}zebra: 1\n`, 'longcall.yaml:2:1: zebra: unknown key'],
    [
      'a key of a later version',
      `${UPSTREAM}identity: { oauth: { issuer: x } }\n`,
      'longcall.yaml:2:13: identity.oauth: is not available in this version; leave it out',
    ],
    [
      'another store',
      `${UPSTREAM}store: postgres://db\n`,
      'longcall.yaml:2:8: store: only sqlite is available in this version',
    ],
    [
      'job tools that are neither',
      `${UPSTREAM}jobTools: never\n`,
      'longcall.yaml:2:11: jobTools: must be one of on, off, only-when-needed',
    ],
    [
      'a duration without a unit',
      `${UPSTREAM}retention: { tasks: 24 }\n`,
      'longcall.yaml:2:21: retention.tasks: must be a duration such as 500ms, 20s, 15m, 2h or 7d',
    ],
    [
      'a duration in words',
      `${UPSTREAM}retention: { tasks: 5 minutes }\n`,
      'longcall.yaml:2:21: retention.tasks: must be a duration such as 500ms, 20s, 15m, 2h or 7d',
    ],
    [
      'a size without a unit',
      `${UPSTREAM}limits: { result: { hard: 16MB } }\n`,
      'longcall.yaml:2:27: limits.result.hard: must be a size such as 256KiB or 16MiB',
    ],
    [
      'a count that is none',
      `${UPSTREAM}limits: { queue: 1.5 }\n`,
      'longcall.yaml:2:18: limits.queue: must be a whole number from 1 to 1000000',
    ],
    [
      'an address without a port',
      `${UPSTREAM}listen: { mcp: localhost }\n`,
      'longcall.yaml:2:16: listen.mcp: must be host:port, for example 127.0.0.1:8787',
    ],
    [
      'a port that is none',
      `${UPSTREAM}listen: { mcp: "localhost:70000" }\n`,
      'longcall.yaml:2:16: listen.mcp: has the port 70000; a port is a number from 0 to 65535',
    ],
    [
      'a word that is none',
      `${UPSTREAM}log: { level: infos }\n`,
      'longcall.yaml:2:15: log.level: must be one of debug, info, warn, error, silent (did you mean "info"?)',
    ],
    [
      'no mapping',
      `${UPSTREAM}log: loud\n`,
      'longcall.yaml:2:6: log: must be a mapping of keys to values',
    ],
    ['a list', '- a\n', 'longcall.yaml:1:1: must be a mapping of keys to values'],
    ['no YAML', 'a: [', 'longcall.yaml:1:5: not valid YAML: flow sequence'],
    [
      'a name twice',
      'upstreams:\n  a: { url: "http://x" }\n  a: { url: "http://y" }\n',
      'longcall.yaml:3:3: not valid YAML: map keys must be unique',
    ],
    [
      'a name that is none',
      'upstreams: { "a b": { url: "http://x" } }\n',
      'longcall.yaml:1:14: upstreams.a b: the name of an upstream is at most 64',
    ],
    [
      'neither command nor url',
      'upstreams: { a: {} }\n',
      'longcall.yaml:1:14: upstreams.a: needs command or url',
    ],
    [
      'both',
      'upstreams: { a: { command: [x], url: "http://x" } }\n',
      'longcall.yaml:1:14: upstreams.a: has both command and url; keep one',
    ],
    [
      'an empty command',
      'upstreams: { a: { command: [] } }\n',
      'longcall.yaml:1:28: upstreams.a.command: must name a program',
    ],
    [
      'a command in one text',
      'upstreams: { a: { command: npx x } }\n',
      'longcall.yaml:1:28: upstreams.a.command: must be a list: [program, argument, …]',
    ],
    [
      'headers of a command',
      'upstreams: { a: { command: [x], headers: { A: b } } }\n',
      'upstreams.a.headers: goes with url, not with command',
    ],
    [
      'an environment of a url',
      'upstreams: { a: { url: "http://x", env: { A: b } } }\n',
      'upstreams.a.env: goes with command, not with url',
    ],
    [
      'another scheme',
      'upstreams: { a: { url: "ftp://x" } }\n',
      'upstreams.a.url: must start with http:// or https://',
    ],
    [
      'a password in a url',
      'upstreams: { a: { url: "https://u:p@x/mcp" } }\n',
      'upstreams.a.url: must not carry a password; use headers',
    ],
    [
      'a header of two lines',
      'upstreams: { a: { url: "http://x", headers: { A: "b\\nC: d" } } }\n',
      'upstreams.a.headers.A: must be one line',
    ],
    [
      'a window beyond the time of an answer',
      tool('syncWindow: 21s'),
      'longcall.yaml:4:31: upstreams.a.tools.x.syncWindow: must be at most 20s',
    ],
    [
      'a job window beyond the time of an answer',
      tool('jobWindow: 21s'),
      'longcall.yaml:4:30: upstreams.a.tools.x.jobWindow: must be at most 20s',
    ],
    [
      'a fallback that is none',
      tool('fallback: [job-tool]'),
      'upstreams.a.tools.x.fallback.0: must be one of job-tools, sync, refuse (did you mean "job-tools"?)',
    ],
    [
      'no fallback at all',
      tool('fallback: []'),
      'longcall.yaml:4:29: upstreams.a.tools.x.fallback: must name at least one way',
    ],
    [
      'a refusal of a tool that is optional',
      tool('fallback: [job-tools, refuse]'),
      'longcall.yaml:4:29: upstreams.a.tools.x.fallback: task-optional can fall back to job-tools and sync only; mode: task-required refuses them',
    ],
    [
      'a fallback of a tool that answers everybody alike',
      tool('mode: sync, fallback: [job-tools]'),
      'upstreams.a.tools.x.fallback: sync answers callers without Tasks like all others; leave it out',
    ],
    [
      'passthrough of what is no read',
      tool('mode: passthrough, effect: reversible'),
      'longcall.yaml:4:25: upstreams.a.tools.x.mode: passthrough is for reads only, and the effect here is reversible; use sync, or effect: read',
    ],
    [
      'passthrough of what nobody called a read',
      tool('mode: passthrough'),
      '(which is what holds where nothing is said)',
    ],
    [
      'a key of what is passed on unrecorded',
      tool('mode: passthrough, effect: read, idempotency: { argument: key }'),
      'upstreams.a.tools.x.idempotency: passthrough keeps no record to know a key by; use sync, or leave it out',
    ],
    [
      'a key from nowhere',
      tool('idempotency: {}'),
      'longcall.yaml:4:32: upstreams.a.tools.x.idempotency: needs argument or from',
    ],
    [
      'a key from no arguments',
      tool('idempotency: { from: [] }'),
      'upstreams.a.tools.x.idempotency.from: must name at least one argument',
    ],
    [
      'a key from what is taken off',
      tool('idempotency: { argument: key, from: [key] }'),
      'upstreams.a.tools.x.idempotency: argument and from name the same argument: it cannot be taken off and be looked at',
    ],
    [
      'a key from one argument twice',
      tool('idempotency: { from: [invoice, invoice] }'),
      'upstreams.a.tools.x.idempotency: from names an argument twice',
    ],
    [
      'a key from what is no name',
      tool('idempotency: { from: [an invoice] }'),
      'upstreams.a.tools.x.idempotency.from.0: must be the name of an argument: at most 64 characters, no spaces and no dots',
    ],
    [
      'another way to a key',
      tool('idempotency: { form: [invoice] }'),
      'upstreams.a.tools.x.idempotency.form: unknown key (did you mean "from"?)',
    ],
    [
      'less room than one large call takes',
      `${UPSTREAM}limits: { perPrincipal: { bytes: 10KiB } }\n`,
      'longcall.yaml:2:34: limits.perPrincipal.bytes: must be at least 1MiB',
    ],
    [
      'no queue at all',
      `${UPSTREAM}limits: { perTool: { queued: 0 } }\n`,
      'longcall.yaml:2:30: limits.perTool.queued: must be a whole number from 1 to 1000000',
    ],
    [
      'artifacts of what is passed on unrecorded',
      tool('mode: passthrough, effect: read, artifacts: on'),
      'longcall.yaml:4:63: upstreams.a.tools.x.artifacts: passthrough keeps no record, so it has no artifacts; use mode: sync',
    ],
    [
      'artifacts for arguments of what is passed on unrecorded',
      tool('mode: passthrough, effect: read, artifactArguments: [file]'),
      'upstreams.a.tools.x.artifactArguments: passthrough keeps no record, so it has no artifactArguments; use mode: sync',
    ],
    [
      'no argument that may name an artifact',
      tool('artifactArguments: []'),
      'longcall.yaml:4:38: upstreams.a.tools.x.artifactArguments: must name at least one argument',
    ],
    [
      'a threshold above the limit',
      `${UPSTREAM}limits: { result: { hard: 1MiB, artifactAbove: 2MiB } }\n`,
      'longcall.yaml:2:48: limits.result.artifactAbove: must not be more than limits.result.hard',
    ],
    [
      'an artifact that nobody has room for',
      `${UPSTREAM}limits: { artifacts: { each: 2GiB } }\n`,
      'longcall.yaml:2:30: limits.artifacts.each: must not be more than limits.artifacts.perPrincipal',
    ],
    [
      'a pattern that is none',
      `${UPSTREAM}redact: { patterns: { staff: "(" } }\n`,
      'longcall.yaml:2:30: redact.patterns.staff: is no pattern that RE2 can read: ',
    ],
    [
      'a pattern that could take for ever elsewhere',
      `${UPSTREAM}redact: { patterns: { staff: "(a)\\\\1" } }\n`,
      'redact.patterns.staff: is no pattern that RE2 can read: ',
    ],
    [
      'a pattern under a name that is no label',
      `${UPSTREAM}redact: { patterns: { Staff No: "x" } }\n`,
      'redact.patterns.Staff No: cannot be used as a name here',
    ],
    [
      'more than 30 days together',
      tool('runLimit: 10d, inputAllowance: 10d, retention: 11d'),
      'upstreams.a.tools.x: runLimit, inputAllowance and retention come to 31d; at most 30d together',
    ],
    [
      'a variable that is not there',
      'upstreams: { a: { command: ["${NOPE}"] } }\n',
      'longcall.yaml:1:29: upstreams.a.command.0: the environment has no NOPE',
    ],
    [
      'the same prefix twice',
      'upstreams:\n  a: { url: "http://x", prefix: p_ }\n  b: { url: "http://y", prefix: p_ }\n',
      'longcall.yaml:3:33: upstreams.b.prefix: "p_" is the prefix of a already',
    ],
  ];

  function tool(rule: string): string {
    return `upstreams:\n  a:\n    command: [node]\n    tools: { x: { ${rule} } }\n`;
  }

  test.each(wrong)('%s', (_, yaml, problem) => {
    expect(problems({ yaml }).join('\n')).toContain(problem);
    expect(() => load({ yaml })).toThrow(ConfigInvalidError);
  });

  test('everything is told at once, in the order of the file', () => {
    const yaml =
      'jobTools: yes\nlisen: 1\nupstreams: { a: { url: "ftp://x", prefx: a } }\nlog: { format: xml }\n';
    expect(problems({ yaml }).map((problem) => problem.split(':').slice(1, 4).join(':'))).toEqual([
      '1:11: jobTools',
      '2:1: lisen',
      '3:24: upstreams.a.url',
      '3:35: upstreams.a.prefx',
      '4:16: log.format',
    ]);
  });

  test('a rule for * and one for a name are judged together, where the last word was said', () => {
    const yaml = `upstreams:
  a:
    command: [node]
    tools:
      "*": { mode: passthrough, effect: read }
      pay: { effect: consequential }
      other: { mode: sync, effect: consequential }
`;
    expect(problems({ yaml })).toEqual([
      'longcall.yaml:6:22: upstreams.a.tools.pay.effect: passthrough is for reads only, and the effect here is consequential; use sync, or effect: read',
    ]);
  });

  test('passthrough by trusted annotations is decided when the tools are known', () => {
    const yaml =
      'upstreams: { a: { command: [node], trustAnnotations: true, tools: { "*": { mode: passthrough } } } }\n';
    expect(problems({ yaml })).toEqual([]);
  });

  test('an error of a flag or a variable names it', () => {
    expect(
      problems({
        yaml: UPSTREAM,
        env: { LONGCALL_LIMITS_QUEUE: 'many' },
        flags: { listen: 'nowhere' },
      }),
    ).toEqual([
      'flag --listen: listen.mcp: must be host:port, for example 127.0.0.1:8787',
      'env LONGCALL_LIMITS_QUEUE: limits.queue: must be a whole number from 1 to 1000000',
    ]);
  });
});

describe('the tokens file that is named', () => {
  const yaml = `${UPSTREAM}identity: { tokens: t.yaml }\n`;

  test('is checked along with the rest', () => {
    expect(problems({ yaml })[0]).toContain('t.yaml, which is not there');
    writeFileSync(join(cwd, 't.yaml'), '- { nam: x }', { mode: 0o600 });
    expect(problems({ yaml }).join('\n')).toContain(
      't.yaml:1:5: 0.nam: unknown key (did you mean "name"?)',
    );
    writeFileSync(join(cwd, 't.yaml'), '[]');
    expect(problems({ yaml })).toEqual([]);
    chmodSync(join(cwd, 't.yaml'), 0o644);
    expect(problems({ yaml })[0]).toContain('mode 0644');
  });
});

describe('beyond loopback', () => {
  const open = { yaml: `${UPSTREAM}listen: { mcp: 0.0.0.0:8787 }\n` };

  verifies(['G1-133', 'G2-162'], 'needs identity, and says so with a code of its own', () => {
    expect(() => load(open)).toThrow(expect.objectContaining({ code: 'LONGCALL_LISTEN_UNSAFE' }));
    expect(problems(open)[0]).toContain(
      'longcall.yaml:2:16: listen.mcp: 0.0.0.0 can be reached by others',
    );
    expect(() => load({ ...open, flags: { listen: 'gateway.example:80' } })).toThrow(/error/);
  });

  test('is served with a tokens file, and then nobody is anonymous', () => {
    const yaml = `${open.yaml}identity: { tokens: t.yaml }\n`;
    expect(load({ yaml }).config.identity).toMatchObject({ allowAnonymous: false });
  });

  test('is served to anybody where the operator said so', () => {
    expect(
      load({ ...open, flags: { acceptAnonymousNetwork: true } }).config.identity.allowAnonymous,
    ).toBe(true);
  });

  test('a tokens file ends anonymous calls on loopback as well: a proxy may stand in front', () => {
    expect(
      load({ yaml: `${UPSTREAM}identity: { tokens: t.yaml }\n` }).config.identity.allowAnonymous,
    ).toBe(false);
  });

  test('other errors keep their own code', () => {
    const yaml = `${open.yaml}lisen: 1\n`;
    expect(() => load({ yaml })).toThrow(
      expect.objectContaining({ code: 'LONGCALL_CONFIG_INVALID' }),
    );
  });
});
