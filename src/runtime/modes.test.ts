import { describe, expect, it } from 'vitest';
import { CALLER_KINDS, MODE_TABLE, decideCall, taskSupportOf } from './modes.ts';
import { TOOL_MODES } from './tool.ts';
import type { ToolMode } from './tool.ts';

/** The table of architecture §5 as it is printed, without job tools. */
const PRINTED = `
  mode          | 2025-plain            | 2025-task               | 2026-tasks | 2026-plain           | older
  passthrough   | forward               | refuse:no_task_support  | forward    | forward              | forward
  sync          | bounded               | refuse:no_task_support  | bounded    | bounded              | bounded
  task-optional | bounded               | handle                  | window     | bounded              | bounded
  task-required | refuse:task_required  | handle                  | handle     | refuse:task_required | refuse:task_required
  refuse        | refuse:policy         | refuse:policy           | refuse:policy | refuse:policy     | refuse:policy
`;

const rows = PRINTED.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));
const [callers = [], ...modes] = rows;

describe('the table of modes and callers', () => {
  it('has a cell for every mode and every caller, and no other', () => {
    expect(modes.map(([mode]) => mode)).toEqual([...TOOL_MODES]);
    expect(callers.slice(1)).toEqual([...CALLER_KINDS]);
    expect(Object.keys(MODE_TABLE).sort()).toEqual([...TOOL_MODES].sort());
  });

  it.each(
    modes.flatMap(([mode = '', ...cells]) =>
      cells.map((cell, at) => [mode, callers[at + 1] ?? '', cell] as const),
    ),
  )('%s called by %s: %s', (mode, caller, cell) => {
    const decision = decideCall(
      TOOL_MODES.find((known) => known === mode) ?? 'refuse',
      CALLER_KINDS.find((known) => known === caller) ?? 'older',
    );
    expect(decision.kind === 'refuse' ? `refuse:${decision.reason}` : decision.kind).toBe(cell);
  });

  it('lists task support to 2025 as the modes say', () => {
    const listed = Object.fromEntries(
      TOOL_MODES.map((mode: ToolMode) => [mode, taskSupportOf(mode)]),
    );
    expect(listed).toEqual({
      passthrough: 'forbidden',
      sync: 'forbidden',
      'task-optional': 'optional',
      'task-required': 'required',
      refuse: 'forbidden',
    });
  });
});
