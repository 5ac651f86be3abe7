/** Defaults of the configuration file, as one would write them there (architecture §7). */
export const DEFAULTS = {
  data: './longcall-data',
  store: 'sqlite',
  listen: { mcp: '127.0.0.1:8787', admin: '127.0.0.1:8788', allowedHosts: [] },
  identity: { local: true },
  jobTools: 'off',
  limits: {
    perPrincipal: { open: 32 },
    perTenant: { open: 256 },
    perTool: { running: 16 },
    queue: 1000,
    queueTime: '1h',
    result: { hard: '16MiB' },
    request: '4MiB',
  },
  retention: { tasks: '24h', anonymous: '1h', ledger: '400d', audit: '400d' },
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
  plainLimit: '60s',
  runLimit: '1h',
  inputAllowance: '24h',
  inputExpiry: '1h',
  pollInterval: '1s',
} as const;
