import type { UpstreamRow } from '../upstreams/rows.ts';
import { MEANING, OPERATIONS } from './operations.ts';
import type { Operation } from './operations.ts';
import type { ClientRow } from './real-client.ts';

const HEAD = `# What works with longcall

Written from the tables of \`test/clients\` and \`test/upstreams\`, which are played on every change: real clients and real
servers with a real gateway between them, on loopback. A test fails when this page differs from the tables;
\`npx vitest run test/clients -u\` writes it anew.

## Clients

✓ is shown; a number leads to a note. A cell with a number alone is empty: the note says why, and a test that it still is so.
SDK v1 and mcpc speak 2025-11-25 at most.
`;

const SERVERS_HEAD = `## Servers behind it

A caller of either generation gets an answer to a plain call, and a handle for a slow one, from each of these. Where the
server has Tasks of its own, the call is a task there too, of whichever generation.
`;

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Numbers notes in the order in which they are met; the same words get the same number. */
function createNotes() {
  const notes: string[] = [];
  return {
    numberOf(note: string): string {
      if (!notes.includes(note)) notes.push(note);
      return `<sup>${notes.indexOf(note) + 1}</sup>`;
    },
    lines: (): readonly string[] => notes.map((note, index) => `${index + 1}. ${note}`),
  };
}

function cellOf(row: ClientRow, operation: Operation, numberOf: (note: string) => string): string {
  const empty = row.empty?.[operation];
  if (empty) return numberOf(empty.reason);
  const note = row.notes?.[operation];
  return note === undefined ? '✓' : `✓ ${numberOf(note)}`;
}

function clientLines(rows: readonly ClientRow[]): readonly string[] {
  const notes = createNotes();
  const cells = rows.map((row) =>
    line([
      row.client,
      row.era,
      row.transport,
      ...OPERATIONS.map((operation) => cellOf(row, operation, notes.numberOf)),
    ]),
  );
  return [
    line(['client', 'protocol', 'over', ...OPERATIONS]),
    line(['---', '---', '---', ...OPERATIONS.map(() => ':-:')]),
    ...cells,
    '',
    ...notes.lines(),
  ];
}

const serverLine = ({ is, says, over, ownTasks, resource, prompt }: UpstreamRow): string =>
  line([is, says.protocol, over, ownTasks, resource ? '✓' : 'has none', prompt ? '✓' : 'has none']);

/** Both tables as a page of the documentation. */
export const compatibilityPage = (
  clients: readonly ClientRow[],
  servers: readonly UpstreamRow[],
): string =>
  [
    HEAD,
    ...clientLines(clients),
    '',
    ...OPERATIONS.map((operation) => `- **${operation}**: ${MEANING[operation]}.`),
    '',
    SERVERS_HEAD,
    line(['server', 'protocol', 'over', 'Tasks of its own', 'resources', 'prompts']),
    line(['---', '---', '---', '---', ':-:', ':-:']),
    ...servers.map(serverLine),
    '',
  ].join('\n');
