import type { Command } from 'commander';
import type { TaskDocument } from '../admin/documents.ts';
import { LongcallError } from '../kernel/errors.ts';
import { createAdminClient } from './admin-client.ts';
import { locateAdmin } from './admin-endpoint.ts';
import { addAdminOptions, addOutputOptions, durationOption } from './command-options.ts';
import type { AskFlags } from './command-options.ts';
import { followTask } from './follow-task.ts';
import type { WatchEvent } from './follow-task.ts';
import { resolveId } from './ids.ts';
import type { CliIo, StopSignal } from './io.ts';
import { createPrinter } from './output/printer.ts';
import type { Printer } from './output/printer.ts';
import { columnFacts } from './task-facts.ts';
import { exitCodeOf } from './two-columns.ts';
import { createJsonlView, createLineView, createLiveView } from './watch-view.ts';
import type { WatchView } from './watch-view.ts';

interface WatchFlags extends AskFlags {
  readonly jsonl?: boolean;
  readonly timeout?: string;
}

/** Why the watch is over before the task is, and how the command then ends. */
const LEAVING = { SIGINT: 130, SIGTERM: 143, timeout: 7 } as const;
type Leaving = keyof typeof LEAVING;

/** `longcall tasks watch`. */
export function addTasksWatch(tasks: Command, io: CliIo): void {
  const command = tasks
    .command('watch')
    .description('follow a task until it ends; leaving early changes nothing')
    .argument('<id>', 'task id, or at least 8 characters of its start')
    .option('--jsonl', 'each state as one line of JSON on stdout')
    .option('--timeout <duration>', 'leave after this long, like 15m; the task keeps running');
  addAdminOptions(addOutputOptions(command)).action(async (given: string, _, own: Command) => {
    const flags = own.optsWithGlobals<WatchFlags>();
    const timeoutMs = durationOption('--timeout', flags.timeout);
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const id = await resolveId(client, 'task', given);
    const printer = createPrinter(io, flags);
    const view = viewOf(io, flags, printer);
    const seen = await watch(io, { id, flags, timeoutMs, view });
    if (seen.leaving !== undefined) return leave(io, { id, flags, leaving: seen.leaving });
    const task = endedTask(seen.last);
    if (flags.jsonl !== true) printer.answer(task, () => printEnd(printer, task));
    io.exit(exitCodeOf(task));
  });
}

function viewOf(io: CliIo, flags: WatchFlags, { style }: Printer): WatchView {
  if (flags.jsonl === true) return createJsonlView(io);
  if (io.stderrIsTty) return createLiveView(io, style);
  if (flags.json === true) return { show: () => undefined, finish: () => undefined };
  return createLineView(io, style);
}

interface Watch {
  readonly id: string;
  readonly flags: WatchFlags;
  readonly timeoutMs: number | undefined;
  readonly view: WatchView;
}

interface Watched {
  readonly last: TaskDocument | undefined;
  readonly leaving: Leaving | undefined;
}

async function watch(io: CliIo, { id, flags, timeoutMs, view }: Watch): Promise<Watched> {
  let last: TaskDocument | undefined;
  const exits = listenForLeaving(io, timeoutMs);
  const onEvent = (event: WatchEvent): void => {
    if (event.kind === 'task') last = event.task;
    view.show(event);
  };
  try {
    const connect = () => createAdminClient(locateAdmin(flags, io), io.clock);
    await followTask({ connect, taskId: id, clock: io.clock, signal: exits.signal, onEvent });
  } finally {
    exits.stop();
    view.finish();
  }
  return { last, leaving: exits.leaving() };
}

/** The first signal leaves; a second one finds no listener any more and ends the process at once. */
function listenForLeaving(io: CliIo, timeoutMs: number | undefined) {
  const controller = new AbortController();
  let leaving: Leaving | undefined;
  const stops: (() => void)[] = [];
  const stop = (): void => stops.splice(0).forEach((one) => one());
  const leaveBy = (reason: Leaving): void => {
    stop();
    leaving = reason;
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const satisfies readonly StopSignal[])
    stops.push(io.onSignal(signal, () => leaveBy(signal)));
  if (timeoutMs !== undefined) {
    const timer = io.clock.after(timeoutMs, () => leaveBy('timeout'));
    stops.push(() => timer.cancel());
  }
  return { signal: controller.signal, leaving: () => leaving, stop };
}

function leave(
  io: CliIo,
  { id, flags, leaving }: { id: string; flags: WatchFlags; leaving: Leaving },
) {
  const why = leaving === 'timeout' ? 'the time to watch is up' : 'detached';
  const named = (['server', 'data', 'config'] as const).flatMap((flag) => {
    const value = flags[flag];
    return value === undefined ? [] : [`--${flag} ${quoted(value)}`];
  });
  io.stderr(`${why}; the task keeps running. Watch it again:\n`);
  io.stderr(`  ${['longcall tasks watch', id, ...named].join(' ')}\n`);
  io.exit(LEAVING[leaving]);
}

const quoted = (word: string): string =>
  /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

function endedTask(task: TaskDocument | undefined): TaskDocument {
  if (task?.protocol.phase === 'ended') return task;
  throw new LongcallError('LONGCALL_TASK_UNKNOWN', 'the record expired while it was watched', {
    hint: 'its operation is kept: `longcall ops list`',
  });
}

function printEnd(printer: Printer, task: TaskDocument): void {
  printer.facts([['task', { text: task.id }], ...columnFacts(task, printer)]);
}
