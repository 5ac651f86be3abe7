import { LongcallError } from '../kernel/errors.ts';
import { messageOf } from '../kernel/logger.ts';
import { callTool } from '../requestor/call-tool.ts';
import type { ToolCallEnd } from '../requestor/tool-call.ts';
import type { Job } from '../runtime/job.ts';
import { lineFor, toolCallOf, type RunToolParts } from './run-tool.ts';

/**
 * Calls the job's tool at its upstream, once, and says how that ended. Nothing is marked, journalled or tried again: that
 * is for whoever answers for the run. `signal`: also gives the call up, and tells the upstream so.
 */
export type CallOnce = (job: Job, signal: AbortSignal) => Promise<ToolCallEnd>;

export function createCallOnce(parts: RunToolParts): CallOnce {
  const { clock, random } = parts.settings;
  return async (job, signal) => {
    const upstream = parts.upstreams.find(({ options }) => options.name === job.tool.upstream);
    if (!upstream) return { kind: 'unsent', problem: 'it is not configured' };
    const line = lineFor({ ...job, signal }, upstream, false);
    try {
      return await callTool({
        line,
        hooks: {
          dispatched: () => Promise.resolve(true),
          journal: () => Promise.resolve(false), // a task of the upstream's own could not be found again
          ask: (questions, withdrawn) => job.ask(questions, withdrawn),
          status: (text) => job.status(text),
        },
        call: { ...toolCallOf(parts, job, upstream), taskSupport: 'forbidden' },
        signal,
        passesAbort: () => true,
        clock,
        random,
      });
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      const reason = error instanceof LongcallError ? (error.cause ?? error) : error;
      return { kind: 'unsent', problem: messageOf(reason) };
    } finally {
      line.end('release');
    }
  };
}
