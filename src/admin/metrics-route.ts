import { Hono } from 'hono';
import type { Operation } from '../ledger/operation.ts';
import { redactionCounts } from '../kernel/redact/redact.ts';
import type { Task } from '../protocol/model.ts';
import { sumByClass, type ByFieldClass } from '../runtime/expiry-tally.ts';
import type { Store } from '../stores/store.ts';
import { EXPOSITION_TYPE, expose } from './exposition.ts';
import type { MetricFamily, Sample } from './exposition.ts';
import type { AdminOptions } from './options.ts';
import { createTally } from './tally.ts';
import { createTaskMeter, ownStatusOf, wireOf } from './task-meter.ts';

const PAGE = 200;
/** Rows that one scrape reads at most of a list; a gauge that would need more is left out rather than wrong. */
const ROWS_MAX = 5_000;

/** What the guards have turned away since the start. */
export interface DenialCount {
  readonly denied: () => number;
}

interface Keyed {
  readonly createdAt: number;
  readonly id: string;
}

/** All rows of a keyset-paged list, or nothing where there are more than may be read. */
async function readAll<Row extends Keyed>(
  page: (after: Keyed | undefined) => Promise<readonly Row[]>,
): Promise<readonly Row[] | undefined> {
  const rows: Row[] = [];
  while (rows.length <= ROWS_MAX) {
    const found = await page(rows.at(-1));
    rows.push(...found);
    if (found.length < PAGE) return rows;
  }
  return undefined;
}

const position = (after: Keyed | undefined) =>
  after === undefined ? {} : { after: { createdAt: after.createdAt, id: after.id } };

async function activeTasks({ tasks }: Store): Promise<readonly MetricFamily[]> {
  const open = await readAll<Task>((after) =>
    tasks.list('system', { limit: PAGE, withHandle: false, phase: 'open', ...position(after) }),
  );
  if (open === undefined) return [];
  const tally = createTally();
  for (const task of open)
    tally.add({
      peer: task.upstream,
      tool: task.tool,
      status: ownStatusOf(task),
      wire: wireOf(task.origin),
    });
  return [gauge('longcall_task_active', 'Tasks that have not ended.', tally.samples())];
}

async function unknownOperations({ operations, now }: Store): Promise<readonly MetricFamily[]> {
  const unknown = await readAll<Operation>((after) =>
    operations.list('system', { limit: PAGE, state: 'unknown', ...position(after) }),
  );
  if (unknown === undefined) return [];
  const tally = createTally();
  for (const operation of unknown) tally.add({ peer: operation.upstream });
  const at = now();
  const oldest = Math.min(at, ...unknown.map((operation) => operation.updatedAt));
  return [
    gauge('longcall_operation_unknown', 'Operations whose effect nobody knows.', tally.samples()),
    gauge(
      'longcall_operation_unknown_age_max_seconds',
      'How long the oldest unknown operation has been unknown; 0 where there is none.',
      [{ value: (at - oldest) / 1000 }],
    ),
  ];
}

async function ledgerStates({ operations }: Store): Promise<readonly MetricFamily[]> {
  const counts = Object.entries(await operations.counts());
  const samples = counts.map(([outcome, value]) => ({ labels: { outcome }, value }));
  return [gauge('longcall_operations', 'Operations that the ledger keeps, by state.', samples)];
}

async function queue(options: AdminOptions): Promise<readonly MetricFamily[]> {
  const queued = await options.store.attempts.queuedCount();
  const { running, parked, inputsExpired } = options.runtime.stats();
  const pending = sumByClass(await options.store.inputs.countOpen());
  const single = (name: string, help: string, value: number) => gauge(name, help, [{ value }]);
  return [
    single('longcall_admission_queue_depth', 'Attempts that wait for a runner.', queued),
    single('longcall_attempts_running', 'Attempts that take up a slot here.', running),
    single('longcall_attempts_parked', 'Attempts that wait for an answer here.', parked),
    gauge('longcall_input_pending', 'Open questions, by what they ask for.', samplesOf(pending)),
    counter(
      'longcall_input_expired_total',
      'Questions that nobody answered in time.',
      samplesOf(inputsExpired),
    ),
  ];
}

const samplesOf = (counts: ByFieldClass): readonly Sample[] =>
  Object.entries(counts).map(([field_class, value]) => ({ labels: { field_class }, value }));

const NO_DUPLICATES: Sample = { value: 0 };

function repeatFamilies({ runtime }: AdminOptions): readonly MetricFamily[] {
  const repeats = runtime.repeats.counts().map(({ upstream, tool, by, count }) => ({
    labels: { peer: upstream, tool, by },
    value: count,
  }));
  const refusals = runtime.refusals.counts().map(({ upstream, tool, reason, count }) => ({
    labels: { peer: upstream, tool, reason },
    value: count,
  }));
  const duplicates = runtime.duplicates.counts().map(({ upstream, tool, count }) => ({
    labels: { peer: upstream, tool },
    value: count,
  }));
  return [
    counter(
      'longcall_admission_rejected_total',
      'Calls for which there was no room, by the limit that they met.',
      refusals,
    ),
    counter('longcall_starts_deduplicated_total', 'Calls that were made before.', repeats),
    counter(
      'longcall_effect_duplicates_total',
      'Effects that were sent twice; must stay 0.',
      duplicates.length > 0 ? duplicates : [NO_DUPLICATES],
    ),
  ];
}

function processFamilies(options: AdminOptions, denials: DenialCount): readonly MetricFamily[] {
  const upstreams = options.upstreams().map(({ name, state }) => ({
    labels: { peer: name },
    value: state === 'up' ? 1 : 0,
  }));
  const routes = (options.routes?.counts() ?? []).map(({ route, reason, count }) => ({
    labels: { route, reason },
    value: count,
  }));
  return [
    gauge('longcall_upstream_up', 'Whether the upstream answers.', upstreams),
    counter('longcall_route_decisions_total', 'How calls were routed, and why.', routes),
    counter('longcall_authz_denied_total', 'Admin requests turned away.', [
      { labels: { action: 'admin' }, value: denials.denied() },
    ]),
    gauge('longcall_build_info', 'The running version.', [
      { labels: { version: options.info.version, node: process.versions.node }, value: 1 },
    ]),
    gauge('process_start_time_seconds', 'Start of the process since the epoch.', [
      { value: options.startedAt / 1000 },
    ]),
    gauge('process_resident_memory_bytes', 'Resident memory.', [
      { value: process.memoryUsage.rss() },
    ]),
  ];
}

async function artifacts(store: Store): Promise<readonly MetricFamily[]> {
  const { count, bytes } = await store.artifacts.usage();
  return [
    gauge('longcall_artifacts', 'Artifacts that are kept.', [{ value: count }]),
    gauge('longcall_artifact_bytes', 'What they take up.', [{ value: bytes }]),
  ];
}

const redactions = (): MetricFamily =>
  counter(
    'longcall_redaction_applied_total',
    'Secrets masked in texts of this process, by rule.',
    Object.entries(redactionCounts()).map(([rule, value]) => ({ labels: { rule }, value })),
  );

const gauge = (name: string, help: string, samples: readonly Sample[]): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  samples,
});

const counter = (name: string, help: string, samples: readonly Sample[]): MetricFamily => ({
  name,
  type: 'counter',
  help,
  samples,
});

/** Prometheus text. Labels are names of upstreams and tools and closed sets: never an id, a tenant or a key. */
export function createMetricsRoute(options: AdminOptions, denials: DenialCount): Hono {
  const routes = new Hono();
  const meter = createTaskMeter({ feed: options.runtime.feed, startedAt: options.startedAt });
  routes.get('/', async (context) => {
    const fromStore = await Promise.all([
      activeTasks(options.store),
      unknownOperations(options.store),
      ledgerStates(options.store),
      queue(options),
      artifacts(options.store),
    ]);
    const families = [
      ...fromStore.flat(),
      ...meter.families(),
      redactions(),
      ...repeatFamilies(options),
      ...processFamilies(options, denials),
    ];
    return context.body(expose(families), 200, { 'content-type': EXPOSITION_TYPE });
  });
  return routes;
}
