import type { Command } from 'commander';
import type { TaskDetail, TaskDocument } from '../admin/documents.ts';
import { createAdminClient, segment } from './admin-client.ts';
import { locateAdmin } from './admin-endpoint.ts';
import { addAdminOptions, addOutputOptions } from './command-options.ts';
import type { AskFlags } from './command-options.ts';
import { confirm, requireConfirmable } from './confirm.ts';
import { resolveId } from './ids.ts';
import type { CliIo } from './io.ts';
import { createPrinter } from './output/printer.ts';
import type { Printer } from './output/printer.ts';
import { oneLine } from './output/text-width.ts';
import { columnFacts } from './task-facts.ts';
import { ownStatus } from './two-columns.ts';

interface CancelFlags extends AskFlags {
  readonly yes?: boolean;
  readonly reason?: string;
}

interface CancelDocument {
  readonly kind: 'cancelled' | 'already_ended';
  readonly task: TaskDocument;
}

const NO_ROLLBACK =
  'A cancel asks the work to stop. It is no rollback: what already happened stays.';

/** `longcall tasks cancel`. */
export function addTasksCancel(tasks: Command, io: CliIo): void {
  const command = tasks
    .command('cancel')
    .description('ask a task to stop, as the operator; what already happened is not undone')
    .argument('<id>', 'task id, or at least 8 characters of its start')
    .option('--yes', 'do not ask for a confirmation')
    .option('--reason <text>', 'why, for the record');
  addAdminOptions(addOutputOptions(command)).action(async (given: string, _, own: Command) => {
    const flags = own.optsWithGlobals<CancelFlags>();
    const yes = flags.yes === true;
    requireConfirmable(io, yes);
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const id = await resolveId(client, 'task', given);
    const printer = createPrinter(io, flags);
    if (!yes) {
      const task = await client.get<TaskDetail>(`/tasks/${segment(id)}`);
      for (const line of warning(task)) printer.note(line);
    }
    if (!(await confirm(io, 'Cancel it?', yes))) {
      printer.note('nothing was done');
      return io.exit(1);
    }
    const { reason } = flags;
    const body = reason === undefined ? {} : { reason };
    const cancelled = await client.post<CancelDocument>(`/tasks/${segment(id)}/cancel`, body);
    printer.answer(cancelled, () => printCancelled(printer, cancelled));
  });
}

function warning(task: TaskDetail): readonly string[] {
  const status = ownStatus(task.protocol, task.origin);
  const lines = [
    `task       ${task.id}  ${task.tool} of ${task.upstream}: ${status}`,
    `operation  ${task.operation === null ? 'none: a read' : `${task.operation.id}: ${task.outcome.words}`}`,
  ];
  return [...lines.map(oneLine), NO_ROLLBACK];
}

function printCancelled(printer: Printer, { kind, task }: CancelDocument): void {
  printer.facts([['task', { text: task.id }], ...columnFacts(task, printer)]);
  const isOver = task.protocol.phase === 'ended';
  if (kind === 'already_ended') printer.note('it had ended before; there was nothing to stop');
  else printer.note(isOver ? 'it is cancelled' : 'it was asked to stop and may still finish');
  printer.note(NO_ROLLBACK);
}
