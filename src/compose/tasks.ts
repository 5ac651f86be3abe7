import { CONFIRM_PATH } from '../faces/mcp/http/confirm-route.ts';
import { redactionRules } from '../gateway/config/redaction.ts';
import { openTokensFile } from '../gateway/config/tokens-file.ts';
import type { GatewayConfig } from '../gateway/config/config.ts';
import { createAuthenticator } from '../identity/authenticate.ts';
import { createMayStill } from '../identity/standing.ts';
import { NO_TOKENS } from '../identity/static-token.ts';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import { addRedactionRules } from '../kernel/redact/redact.ts';
import type { Logger } from '../kernel/logger.ts';
import { systemRandom } from '../kernel/random.ts';
import {
  createRequestIdentities,
  principalOfIdentity,
  withoutStrangers,
  type Identify,
} from '../library/identities.ts';
import { registerOn } from '../library/registering.ts';
import { isConnectable } from '../library/servers.ts';
import { configOf } from '../library/settings.ts';
import type { Tasks, TasksOptions, TasksStatus } from '../library/tasks.ts';
import { createToolBook, idempotencyOf, type ToolBook } from '../library/tool-book.ts';
import { rulesOf, type AnyHandler } from '../library/tool-options.ts';
import { isJobHelper } from '../runtime/job-tools.ts';
import { createRouteMeter } from '../runtime/route-meter.ts';
import { lockDataDirectory } from '../stores/sqlite/data-lock.ts';
import { openDataHome, type DataHome } from './data-home.ts';
import { createLogger } from './logger.ts';
import { createTasksLife, type LifeOptions, type LifeState } from './tasks-life.ts';
import { createTeardown } from './teardown.ts';

const CLOSE_GRACE_MS = 10_000;

/**
 * Makes the tools of an MCP server durable: takes the data directory and opens what is kept there. Serving begins with
 * `handler` or `stdio`. Rejects with ConfigInvalidError, LONGCALL_DATA_LOCKED, LONGCALL_DATA_UNUSABLE,
 * LONGCALL_KEY_FILE_UNSAFE and others; nothing is left open then.
 */
export async function createTasks(options: TasksOptions = {}): Promise<Tasks> {
  const foundation = await open(options);
  const { book, teardown, config } = foundation;
  const life = createTasksLife(foundation);
  return {
    tool(server, ...[name, definition, handler]) {
      assertTool(config, name, { definition, handler });
      const idempotency = idempotencyOf(definition.idempotencyKey);
      book.enter({ name, origin: 'journalled', rules: rulesOf(definition), ...idempotency });
      registerOn(server, { name, options: definition, handler: handler as AnyHandler });
    },
    adopt(server, rules) {
      if (!isConnectable(server))
        throw new LongcallError('LONGCALL_LIBRARY_USAGE', 'what is adopted is no MCP server');
      for (const [name, rule] of Object.entries(rules))
        book.enter({ name, origin: 'adopted', rules: rule });
    },
    handler(source) {
      void life.begin(source);
      return (request, response) => life.handler(request, response);
    },
    async stdio(source, streams = { input: process.stdin, output: process.stdout }) {
      try {
        await life.begin(source);
        const front = await life.stdio(streams);
        await front.closed;
      } finally {
        await teardown.run(CLOSE_GRACE_MS);
      }
    },
    ready: async () => void (await life.serving()),
    async confirm(who, token, word) {
      const { receiver } = (await life.serving()).receiving.runtime;
      return receiver.confirm(principalOfIdentity(who), token, word);
    },
    status: () => statusOf(config, book, life.state()),
    metrics: async () => (await life.serving()).metrics(),
    close: (graceMs = CLOSE_GRACE_MS) => teardown.run(graceMs),
  };
}

/** Authors in JavaScript hear of it here, and not with the first call. */
function assertTool(
  { jobTools }: GatewayConfig,
  name: string,
  { definition, handler }: { readonly definition: unknown; readonly handler: unknown },
): void {
  const problem =
    typeof definition !== 'object' || definition === null || typeof handler !== 'function'
      ? "it needs options and a handler, as in tasks.tool(server, name, { effect: 'read' }, handler)"
      : jobTools !== 'off' && isJobHelper(name)
        ? "a helper for hosts without Tasks has that name. Choose another one, or set jobTools: 'off'"
        : undefined;
  if (problem !== undefined)
    throw new LongcallError('LONGCALL_LIBRARY_USAGE', `cannot add "${name}": ${problem}`);
}

async function open(options: TasksOptions): Promise<LifeOptions> {
  const { identify, url, clock = systemClock, random = systemRandom, ...settings } = options;
  const config = configOf(settings);
  const lock = await lockDataDirectory(config.data);
  const logger = logOf(config, clock);
  const teardown = createTeardown(logger);
  teardown.add('lock', () => lock.release());
  try {
    teardown.add('redaction', addRedactionRules(redactionRules(config.redact)));
    const place = { directory: config.data, localUser: config.identity.local };
    const home = await openDataHome({ ...place, clock, random, logger });
    teardown.add('store', () => home.store.close());
    return {
      config,
      home,
      ...(identify ? known(identify, clock) : byToken(config, home, { clock, logger })),
      confirmUrl: url === undefined ? undefined : new URL(CONFIRM_PATH, url).href,
      book: createToolBook(config),
      routes: createRouteMeter(),
      clock,
      random,
      logger,
      teardown,
      ...(settings.admin === undefined ? {} : { admin: config.listen.admin }),
    };
  } catch (error) {
    await teardown.run(0);
    throw error;
  }
}

/** Who asks is the author's word. */
function known(identify: Identify, clock: Clock) {
  const identities = createRequestIdentities(identify, clock);
  return { identities, authenticator: identities.authenticator };
}

/** Standard output is a host's over stdio, so that the log goes to standard error. */
function logOf({ log }: GatewayConfig, clock: Clock): Logger {
  const { stderr } = process;
  const write = (text: string): void => void stderr.write(text);
  return createLogger({ log, clock, write, isTty: stderr.isTTY });
}

interface Surroundings {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Who asks is said by tokens, as at a gateway. */
function byToken(
  { identity }: GatewayConfig,
  { localToken }: DataHome,
  { clock, logger }: Surroundings,
) {
  const { tokens: path, allowAnonymous } = identity;
  const tokens = path === undefined ? NO_TOKENS : openTokensFile({ path, clock, logger });
  const local = localToken === undefined ? {} : { localToken };
  const authenticator = createAuthenticator({ tokens, allowAnonymous, clock, ...local });
  return {
    authenticator: withoutStrangers(authenticator),
    mayStill: createMayStill({ tokens, allowAnonymous }),
  };
}

function statusOf({ data }: GatewayConfig, book: ToolBook, state: LifeState): TasksStatus {
  const none = { tools: [], running: 0, parked: 0, openQuestions: 0, dataDirectory: data };
  if (state.kind === 'failed') return { ...none, state: 'failed', problem: state.problem };
  if (state.kind !== 'serving') return { ...none, state: state.kind };
  const { gateway, receiving, adminUrl } = state.serving;
  const { running, parked, openQuestions } = receiving.runtime.stats();
  const problem = gateway.manifests()[0]?.problem;
  const tools = gateway.surface.tools().map(({ name, effect, mode, why }) => ({
    name,
    effect,
    mode,
    why,
    journalled: book.originOf(name) === 'journalled',
  }));
  return {
    state: 'serving',
    dataDirectory: data,
    ...(problem === undefined ? {} : { problem }),
    ...(adminUrl === undefined ? {} : { adminUrl }),
    tools,
    running,
    parked,
    openQuestions,
  };
}
