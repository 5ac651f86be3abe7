import type { Command } from 'commander';
import { versioned } from '../admin/documents.ts';
import { askIfThere, type EngineSeeker } from '../background/reach-engine.ts';
import { PRODUCT } from '../compose/product.ts';
import { sleep } from '../kernel/clock.ts';
import { LongcallError } from '../kernel/errors.ts';
import { systemRandom } from '../kernel/random.ts';
import { dataDirectoryOf, type AdminFlags } from './admin-endpoint.ts';
import { addOutputOptions, durationOption } from './command-options.ts';
import { confirm, requireConfirmable } from './confirm.ts';
import { addEngineRun } from './engine-run.ts';
import { printEngine, readEngineStatus, type EngineStatus } from './engine-status.ts';
import { holdOpen } from './hold-open.ts';
import type { CliIo } from './io.ts';
import { createPrinter, type OutputFlags, type Printer } from './output/printer.ts';

/** How long running calls have to end; what does not is taken up by the next engine. */
const GRACE = '10s';
/** What the rest of an orderly end may take beyond that. */
const END_MS_MAX = 20_000;
const LOOK_MS = 50;
const STILL_ENDING_EXIT = 7;

type EngineFlags = Pick<AdminFlags, 'data' | 'config'> & OutputFlags;

interface StopFlags extends EngineFlags {
  readonly yes?: boolean;
  readonly grace?: string;
}

/** `longcall engine`: the process that keeps the work of a data directory while windows come and go. */
export function registerEngine(program: Command, io: CliIo): void {
  const engine = program
    .command('engine')
    .description('the background process that keeps the work of hosts that speak stdio');
  const status = engine
    .command('status')
    .description('say whether a background engine runs, for which windows, and with what work');
  addEngineOptions(status).action(async (_, own: Command) => {
    const flags = own.optsWithGlobals<EngineFlags>();
    const printer = createPrinter(io, flags);
    show(printer, await readEngineStatus(seekerOf(flags, io)), dataDirectoryOf(flags, io));
  });
  const stop = engine
    .command('stop')
    .description('end the background engine in order; the next window starts another one');
  addStopOptions(stop).action(async (_, own: Command) => {
    const flags = own.optsWithGlobals<StopFlags>();
    const printer = createPrinter(io, flags);
    const stopped = await heldOpen(() => endEngine(io, flags, printer));
    if (stopped === undefined) return;
    printer.answer(versioned({ stopped }), () =>
      printer.line(stopped ? 'the engine has ended' : 'no engine runs here'),
    );
  });
  const restart = engine
    .command('restart')
    .description('end the background engine in order and start one of this version');
  addStopOptions(restart).action(async (_, own: Command) => {
    const flags = own.optsWithGlobals<StopFlags>();
    const printer = createPrinter(io, flags);
    const stopped = await heldOpen(() => endEngine(io, flags, printer));
    if (stopped === undefined) return;
    await heldOpen(() => startAnew(io, flags));
    show(printer, await readEngineStatus(seekerOf(flags, io)), dataDirectoryOf(flags, io));
  });
  addEngineRun(engine, io);
}

/** Waiting for another process is waiting for a timer, which keeps no process alive. */
async function heldOpen<T>(work: () => Promise<T>): Promise<T> {
  const release = holdOpen();
  return work().finally(release);
}

const addEngineOptions = (command: Command): Command =>
  addOutputOptions(command)
    .option('--data <directory>', 'data directory')
    .option('--config <file>', 'configuration file that names the data directory');

const addStopOptions = (command: Command): Command =>
  addEngineOptions(command)
    .option('--yes', 'do not ask for a confirmation')
    .option('--grace <duration>', 'how long running calls have to end', GRACE);

const seekerOf = (flags: EngineFlags, io: CliIo): EngineSeeker => ({
  data: dataDirectoryOf(flags, io),
  version: PRODUCT.version,
  clock: io.clock,
  random: systemRandom,
});

function show(printer: Printer, status: EngineStatus | undefined, data: string): void {
  const document = status ? { running: true, ...status } : { running: false };
  printer.answer(versioned({ data, ...document }), () => {
    if (status) printEngine(printer, status);
    else printer.line(`no engine runs on ${data}; a host that starts longcall starts one`);
  });
}

/** Whether there was one to end. Nothing where it was not ended; then the exit code says so. */
async function endEngine(
  io: CliIo,
  flags: StopFlags,
  printer: Printer,
): Promise<boolean | undefined> {
  const graceMs = durationOption('--grace', flags.grace);
  const seeker = seekerOf(flags, io);
  const status = await readEngineStatus(seeker);
  if (!status) return false;
  if (!(await mayEnd(io, { status, yes: flags.yes === true, printer }))) return undefined;
  const answer = await askIfThere(seeker, { purpose: 'stop', body: { graceMs } });
  if (answer.kind === 'no') throw answer.error;
  if (await isGone(seeker, (graceMs ?? 0) + END_MS_MAX)) return true;
  printer.note(`process ${status.pid} is still ending`);
  io.exit(STILL_ENDING_EXIT);
  return undefined;
}

interface Ending {
  readonly status: EngineStatus;
  readonly yes: boolean;
  readonly printer: Printer;
}

/** An engine without windows and work is nobody's loss. */
async function mayEnd(io: CliIo, { status, yes, printer }: Ending): Promise<boolean> {
  const { windows, openTasks } = status;
  if (windows === 0 && openTasks === 0) return true;
  requireConfirmable(io, yes);
  if (!yes) {
    printer.note(`${windows} windows are open, ${openTasks} tasks have not ended`);
    printer.note('Windows lose their server until it is started again; tasks are taken up then.');
  }
  if (await confirm(io, 'End it?', yes)) return true;
  printer.note('nothing was done');
  io.exit(1);
  return false;
}

/** Gone is the process that holds the directory, not only its socket. */
async function isGone({ data, clock }: EngineSeeker, withinMs: number): Promise<boolean> {
  const { inspectLock } = await import('../compose/inspect-data.ts');
  const deadline = clock.monotonic() + withinMs;
  while (inspectLock(data).held) {
    if (clock.monotonic() >= deadline) return false;
    await sleep(clock, LOOK_MS);
  }
  return true;
}

async function startAnew(io: CliIo, flags: EngineFlags): Promise<void> {
  const { startEngine } = await import('../compose/start-engine.ts');
  const data = dataDirectoryOf(flags, io);
  const config = flags.config === undefined ? [] : ['--config', flags.config];
  const args = ['--data', data, ...config];
  await startEngine({ data, args, cwd: io.cwd, env: io.env, clock: io.clock });
  if (!(await readEngineStatus(seekerOf(flags, io))))
    throw new LongcallError('LONGCALL_ENGINE_UNREACHABLE', `no engine came up on ${data}`, {
      hint: 'longcall.log in that directory says why',
    });
}
