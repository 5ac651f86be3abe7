import { Option } from 'commander';
import type { Command } from 'commander';
import type { OperationDocument, Page } from '../admin/documents.ts';
import { OPERATION_STATES } from '../ledger/operation.ts';
import { GENERATIONS } from '../protocol/model.ts';
import { createAdminClient, segment } from './admin-client.ts';
import { locateAdmin } from './admin-endpoint.ts';
import { addAdminOptions, addOutputOptions } from './command-options.ts';
import type { AskFlags } from './command-options.ts';
import { resolveId } from './ids.ts';
import type { CliIo } from './io.ts';
import { createPrinter } from './output/printer.ts';
import type { Printer } from './output/printer.ts';
import type { Cell, Column, Fact } from './output/table.ts';
import { formatSpan } from './output/time.ts';
import { outcomeCell, protocolCell } from './two-columns.ts';

interface ListFlags extends AskFlags {
  readonly state?: string;
  readonly tool?: string;
  readonly tenant?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

const COLUMNS: readonly Column[] = [
  { title: 'OPERATION', narrowest: 12 },
  { title: 'TOOL', narrowest: 10 },
  { title: 'PROTOCOL' },
  { title: 'OUTCOME', narrowest: 16 },
  { title: 'STATE' },
  { title: 'AGE' },
];

/** `longcall ops …`: the ledger, over the admin endpoint of a running gateway. */
export function registerOps(program: Command, io: CliIo): void {
  const ops = program
    .command('ops')
    .description('look at operations: what is known of each effect');
  addList(ops, io);
  addShow(ops, io);
}

function addList(ops: Command, io: CliIo): void {
  const command = ops
    .command('list')
    .description('list operations, newest first; they outlive their tasks')
    .addOption(new Option('--state <state>', 'only these').choices(OPERATION_STATES))
    .option('--tool <name>', 'only this tool, by the name that callers use')
    .option('--tenant <tenant>', 'only this tenant')
    .option('--limit <n>', 'at most this many, up to 100', '50')
    .option('--cursor <cursor>', 'go on where a page ended');
  addAdminOptions(addOutputOptions(command)).action(async (_, own: Command) => {
    const flags = own.optsWithGlobals<ListFlags>();
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const { state, tool, tenant, limit, cursor } = flags;
    const query = { state, tool, tenant, limit, cursor };
    const page = await client.get<Page<OperationDocument>>('/operations', query);
    const printer = createPrinter(io, flags);
    printer.answer(page, () => printPage(printer, page, io.clock.now()));
  });
}

function addShow(ops: Command, io: CliIo): void {
  const command = ops
    .command('show')
    .description('show one operation and whether it may be sent again')
    .argument('<id>', 'operation id, or at least 8 characters of its start');
  addAdminOptions(addOutputOptions(command)).action(async (given: string, _, own: Command) => {
    const flags = own.optsWithGlobals<AskFlags>();
    const client = createAdminClient(locateAdmin(flags, io), io.clock);
    const id = await resolveId(client, 'operation', given);
    const operation = await client.get<OperationDocument>(`/operations/${segment(id)}`);
    const printer = createPrinter(io, flags);
    printer.answer(operation, () => printer.facts(operationFacts(operation, printer)));
  });
}

function printPage(
  printer: Printer,
  { items, nextCursor }: Page<OperationDocument>,
  now: number,
): void {
  if (items.length === 0)
    return printer.note('no operations here; reads have none, a filter may leave some out');
  printer.table(
    COLUMNS,
    items.map((operation) => row(operation, printer, now)),
  );
  if (nextCursor !== null) printer.note(`there are more: --cursor ${nextCursor}`);
}

/** The ledger does not keep which generation asked, so the newest one's status is shown. */
function taskCell({ protocol }: OperationDocument, { style }: Printer): Cell {
  if (protocol === null) return { text: 'expired', tone: 'quiet' };
  return protocolCell({ protocol, origin: 'plain', cancelRequestedAt: null }, style);
}

function row(operation: OperationDocument, printer: Printer, now: number): readonly Cell[] {
  return [
    { text: operation.id },
    { text: operation.tool },
    taskCell(operation, printer),
    outcomeCell(operation.outcome, printer.style),
    { text: operation.state },
    { text: formatSpan(now - Date.parse(operation.createdAt)), tone: 'quiet' },
  ];
}

function operationFacts(operation: OperationDocument, printer: Printer): readonly Fact[] {
  const { outcome, protocol, reason, dispatchedAt } = operation;
  const readers =
    protocol === null
      ? 'the ledger keeps it; the record of the task is gone'
      : GENERATIONS.map((one) => `${protocol.status[one]} for ${one}`).join(', ');
  const sent = dispatchedAt === null ? 'nothing was sent' : printer.moment(dispatchedAt);
  return [
    ['operation', { text: operation.id }],
    ['tool', { text: `${operation.tool} of ${operation.upstream} (${operation.effect})` }],
    ['for', { text: `${operation.owner} in ${operation.tenant}` }],
    ['protocol', taskCell(operation, printer), { text: readers, tone: 'quiet' }],
    ['outcome', outcomeCell(outcome, printer.style), { text: outcome.explanation, tone: 'quiet' }],
    ['send again', { text: outcome.advice }],
    ['state', { text: `${operation.state}${reason === null ? '' : ` (${reason})`}` }],
    ['task', { text: operation.taskId }],
    ['arguments', { text: operation.argumentsDigest, tone: 'quiet' }],
    ['sent', { text: sent }],
    ['created', { text: printer.moment(operation.createdAt) }],
    ['changed', { text: printer.moment(operation.updatedAt) }],
  ];
}
