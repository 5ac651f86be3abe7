import type { ServedTool } from './tool.ts';

/**
 * Job tools: for callers without Tasks a slow call is answered with a handle, and these ordinary tools take it further.
 * `only-when-needed` lists them only to callers that can be answered with a handle by some tool.
 */
export const JOB_TOOLS_SETTINGS = ['on', 'off', 'only-when-needed'] as const;
export type JobToolsSetting = (typeof JOB_TOOLS_SETTINGS)[number];

/** Short, so that they stay below 50 characters with whatever a host puts before them. Never an upstream's. */
export const JOB_HELPERS = [
  'longcall_wait',
  'longcall_result',
  'longcall_answer',
  'longcall_cancel',
  'longcall_list',
] as const;
export type JobHelper = (typeof JOB_HELPERS)[number];

export const isJobHelper = (name: unknown): name is JobHelper =>
  JOB_HELPERS.some((helper) => helper === name);

/** How long a call is kept for its plain answer where a tool does not say, and at most (decision 10); in ms. */
export const JOB_WINDOW_MS = 15_000;
export const JOB_WINDOW_MS_MAX = 20_000;
/** Longest wait of `longcall_wait` and of the REST API; also what they do where nothing is said. */
export const JOB_WAIT_MS_MAX = 20_000;

/** What a caller without Tasks can get of a tool that runs as one. */
export const FALLBACKS = ['job-tools', 'sync', 'refuse'] as const;
export type Fallback = (typeof FALLBACKS)[number];

const USUAL: Partial<Readonly<Record<ServedTool['mode'], readonly Fallback[]>>> = {
  'task-optional': ['job-tools', 'sync'],
  'task-required': ['refuse'],
};

/** Whether callers without Tasks are answered with a handle: the first fallback counts that this gateway has. */
export function usesJobTools(
  { mode, fallback = USUAL[mode] ?? [] }: Pick<ServedTool, 'mode' | 'fallback'>,
  setting: JobToolsSetting,
): boolean {
  const hasTasks = mode === 'task-optional' || mode === 'task-required';
  const first = fallback.find((each) => each !== 'job-tools' || setting !== 'off');
  return hasTasks && first === 'job-tools';
}

export const jobWindowMs = ({
  jobWindowMs: own = JOB_WINDOW_MS,
}: Pick<ServedTool, 'jobWindowMs'>): number => Math.min(own, JOB_WINDOW_MS_MAX);
