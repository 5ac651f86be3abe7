/** Defaults of the configuration file, as one would write them there (architecture §7). */
export const DEFAULTS = {
  data: './longcall-data',
  store: 'sqlite',
  listen: { mcp: '127.0.0.1:8787', admin: '127.0.0.1:8788', allowedHosts: [] },
  identity: { local: true },
  jobTools: 'on',
  limits: {
    perPrincipal: { open: 32, bytes: '256MiB' },
    perTenant: { open: 256, bytes: '1GiB' },
    perTool: { running: 16, queued: 1000 },
    queue: 1000,
    queueTime: '1h',
    result: { hard: '16MiB', artifactAbove: '256KiB' },
    artifacts: { each: '32MiB', perPrincipal: '1GiB', perTenant: '4GiB', total: '16GiB' },
    request: '4MiB',
    statusReads: { perSecond: 100, burst: 500 },
  },
  retention: { tasks: '24h', anonymous: '1h', artifacts: '24h', ledger: '400d', audit: '400d' },
  engine: { mode: 'background', idleExit: '10m' },
  redact: { patterns: {} },
  log: { level: 'info', format: 'auto' },
} as const;

/** Defaults of one upstream. The prefix is empty for a single one and `<name>_` where there are several. */
export const UPSTREAM_DEFAULTS = {
  trustAnnotations: false,
  connections: 'auto',
  connectionsMax: 32,
} as const;

/** Defaults of one tool, beside `retention.tasks` and `limits.perTool.running`. Mode and effect are policy.ts's. */
export const TOOL_DEFAULTS = {
  syncWindow: '2s',
  jobWindow: '15s',
  plainLimit: '60s',
  runLimit: '1h',
  inputAllowance: '24h',
  inputExpiry: '1h',
  pollInterval: '1s',
  repeatWindow: '10m',
  artifacts: 'off',
} as const;
