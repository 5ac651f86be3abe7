import { describe, expect, test } from 'vitest';
import { JOB_HELPERS, JOB_WINDOW_MS_MAX, jobWindowMs, usesJobTools } from './job-tools.ts';
import { TOOL_MODES, type ServedTool } from './tool.ts';

type Served = Pick<ServedTool, 'mode' | 'fallback'>;

describe('who is served with job tools', () => {
  test('by default callers of optional tools, and of no other', () => {
    const served = TOOL_MODES.filter((mode) => usesJobTools({ mode }, 'on'));
    expect(served).toEqual(['task-optional']);
    expect(usesJobTools({ mode: 'task-optional' }, 'only-when-needed')).toBe(true);
  });

  test.each<[Served, boolean]>([
    [{ mode: 'task-optional', fallback: ['sync'] }, false],
    [{ mode: 'task-optional', fallback: ['sync', 'job-tools'] }, false],
    [{ mode: 'task-optional', fallback: ['job-tools'] }, true],
    [{ mode: 'task-required', fallback: ['job-tools', 'refuse'] }, true],
    [{ mode: 'task-required', fallback: ['refuse'] }, false],
    [{ mode: 'sync', fallback: ['job-tools'] }, false],
    [{ mode: 'refuse', fallback: ['job-tools'] }, false],
  ])('%j: %s', (tool, served) => {
    expect(usesJobTools(tool, 'on')).toBe(served);
    expect(usesJobTools(tool, 'off')).toBe(false);
  });

  test('no window is longer than an answer may take (decision 10)', () => {
    expect(jobWindowMs({})).toBe(15_000);
    expect(jobWindowMs({ jobWindowMs: 0 })).toBe(0);
    expect(jobWindowMs({ jobWindowMs: 60_000 })).toBe(JOB_WINDOW_MS_MAX);
  });

  test('every helper carries our name, so that no other tool is hidden for it', () => {
    for (const helper of JOB_HELPERS) expect(helper).toMatch(/^longcall_[a-z]+$/);
  });
});
