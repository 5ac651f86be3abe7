import { describe, expect, it } from 'vitest';
import { CALLER_KINDS, MODE_TABLE, decideCall, taskSupportOf } from './modes.ts';
import type { CallDecision } from './modes.ts';
import { TOOL_MODES } from './tool.ts';
import type { ToolMode } from './tool.ts';

/** The table of architecture §5 as it is printed in docs/decisions.md; with job tools where a cell has a second word. */
const PRINTED = `
  mode          | 2025-plain                | 2025-task               | 2026-tasks    | 2026-plain                | older                     | rest
  passthrough   | forward                   | refuse:no_task_support  | forward       | forward                   | forward                   | refuse:no_task_support
  sync          | bounded                   | refuse:no_task_support  | bounded       | bounded                   | bounded                   | refuse:no_task_support
  task-optional | bounded job               | handle                  | window        | bounded job               | bounded job               | handle
  task-required | refuse:task_required job  | handle                  | handle        | refuse:task_required job  | refuse:task_required job  | handle
  refuse        | refuse:policy             | refuse:policy           | refuse:policy | refuse:policy             | refuse:policy             | refuse:policy
`;

const rows = PRINTED.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));
const [callers = [], ...modes] = rows;

const wordOf = (decision: CallDecision): string =>
  decision.kind === 'refuse' ? `refuse:${decision.reason}` : decision.kind;

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
  )('%s called by %s: %s', (printedMode, printedCaller, cell) => {
    const mode = TOOL_MODES.find((known) => known === printedMode) ?? 'refuse';
    const caller = CALLER_KINDS.find((known) => known === printedCaller) ?? 'older';
    const [without = '', withJobTools = without] = cell.split(' ');
    expect(wordOf(decideCall(mode, caller))).toBe(without);
    expect(wordOf(decideCall(mode, caller, true))).toBe(withJobTools);
  });

  it('lists task support to 2025 as the modes say', () => {
    const listed = Object.fromEntries(
      TOOL_MODES.map((mode: ToolMode) => [mode, [taskSupportOf(mode), taskSupportOf(mode, true)]]),
    );
    expect(listed).toEqual({
      passthrough: ['forbidden', 'forbidden'],
      sync: ['forbidden', 'forbidden'],
      'task-optional': ['optional', 'optional'],
      'task-required': ['required', 'optional'],
      refuse: ['forbidden', 'forbidden'],
    });
  });
});
