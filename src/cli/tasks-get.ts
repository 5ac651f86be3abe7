import type { Command } from 'commander';
import type { ResultDocument, TaskDetail } from '../admin/documents.ts';
import { createAdminClient, segment } from './admin-client.ts';
import { locateAdmin } from './admin-endpoint.ts';
import { addAdminOptions, addOutputOptions } from './command-options.ts';
import type { AskFlags } from './command-options.ts';
import { resolveId } from './ids.ts';
import type { CliIo } from './io.ts';
import { jsonText } from './output/json.ts';
import { createPrinter } from './output/printer.ts';
import { taskFacts } from './task-facts.ts';
import { exitCodeOf, ownStatus } from './two-columns.ts';

const ID = 'task id, or at least 8 characters of its start';

/** `longcall tasks get`. */
export function addTasksGet(tasks: Command, io: CliIo): void {
  const command = tasks
    .command('get')
    .description('show one task: both columns, attempts, open questions, events')
    .argument('<id>', ID);
  addAdminOptions(addOutputOptions(command)).action(async (given: string, _, own: Command) => {
    const flags = own.optsWithGlobals<AskFlags>();
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const id = await resolveId(client, 'task', given);
    const task = await client.get<TaskDetail>(`/tasks/${segment(id)}`);
    const printer = createPrinter(io, flags);
    printer.answer(task, () => printer.facts(taskFacts(task, printer)));
  });
}

/** `longcall tasks result`. */
export function addTasksResult(tasks: Command, io: CliIo): void {
  const command = tasks
    .command('result')
    .description("print what an ended task came to; reading another's result is recorded")
    .argument('<id>', ID);
  addAdminOptions(addOutputOptions(command)).action(async (given: string, _, own: Command) => {
    const flags = own.optsWithGlobals<AskFlags>();
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const id = await resolveId(client, 'task', given);
    const document = await client.get<ResultDocument>(`/tasks/${segment(id)}/result`);
    const printer = createPrinter(io, flags);
    printer.answer(document, () => {
      const { task, result, error } = document;
      const status = ownStatus(task.protocol, task.origin);
      printer.note(`protocol: ${status}   outcome: ${task.outcome.words}`);
      io.stdout(jsonText(result ?? error, true));
    });
    io.exit(exitCodeOf(document.task));
  });
}
