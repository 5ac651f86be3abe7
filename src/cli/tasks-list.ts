import { Option } from 'commander';
import type { Command } from 'commander';
import type { Page, TaskDocument } from '../admin/documents.ts';
import { createAdminClient } from './admin-client.ts';
import { locateAdmin } from './admin-endpoint.ts';
import { addAdminOptions, addOutputOptions } from './command-options.ts';
import type { AskFlags } from './command-options.ts';
import type { CliIo } from './io.ts';
import { createPrinter } from './output/printer.ts';
import type { Printer } from './output/printer.ts';
import type { Cell, Column } from './output/table.ts';
import { formatSpan } from './output/time.ts';
import { outcomeCell, protocolCell } from './two-columns.ts';

interface ListFlags extends AskFlags {
  readonly phase?: string;
  readonly tool?: string;
  readonly tenant?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

const COLUMNS: readonly Column[] = [
  { title: 'TASK', narrowest: 13 },
  { title: 'TOOL', narrowest: 10 },
  { title: 'PROTOCOL' },
  { title: 'OUTCOME', narrowest: 16 },
  { title: 'AGE' },
  { title: 'OPERATION', narrowest: 12 },
];

/** `longcall tasks list`. */
export function addTasksList(tasks: Command, io: CliIo): void {
  const command = tasks
    .command('list')
    .description(
      'list tasks, newest first: what the protocol says, and what is known of the effect',
    )
    .addOption(new Option('--phase <phase>', 'only these').choices(['open', 'ended']))
    .option('--tool <name>', 'only this tool, by the name that callers use')
    .option('--tenant <tenant>', 'only this tenant')
    .option('--limit <n>', 'at most this many, up to 100', '50')
    .option('--cursor <cursor>', 'go on where a page ended');
  addAdminOptions(addOutputOptions(command)).action(async (_, own: Command) => {
    const flags = own.optsWithGlobals<ListFlags>();
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const { phase, tool, tenant, limit, cursor } = flags;
    const page = await client.get<Page<TaskDocument>>('/tasks', {
      phase,
      tool,
      tenant,
      limit,
      cursor,
    });
    const printer = createPrinter(io, flags);
    printer.answer(page, () => printPage(printer, page, io.clock.now()));
  });
}

function printPage(printer: Printer, { items, nextCursor }: Page<TaskDocument>, now: number): void {
  if (items.length === 0) return printer.note('no tasks here; a filter may leave them out');
  printer.table(
    COLUMNS,
    items.map((task) => row(task, printer, now)),
  );
  if (nextCursor !== null) printer.note(`there are more: --cursor ${nextCursor}`);
}

function row(task: TaskDocument, { style }: Printer, now: number): readonly Cell[] {
  return [
    { text: task.id },
    { text: task.tool },
    protocolCell(task, style),
    outcomeCell(task.outcome, style),
    { text: formatSpan(now - Date.parse(task.createdAt)), tone: 'quiet' },
    { text: task.operation?.id ?? '', tone: 'quiet' },
  ];
}
