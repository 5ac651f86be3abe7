import { PRODUCT } from '../../compose/product.ts';
import { LongcallError } from '../../kernel/errors.ts';
import { systemRandom } from '../../kernel/random.ts';
import { readEngineStatus } from '../engine-status.ts';
import type { CliIo } from '../io.ts';
import { formatSpan } from '../output/time.ts';
import { fail, ok, skipped, warn, type Finding } from './finding.ts';

const CHECK = 'engine';

/** Who serves the windows of hosts that speak stdio, and whether its socket can be trusted. */
export async function engineFinding(
  data: string | undefined,
  { clock }: Pick<CliIo, 'clock'>,
): Promise<Finding> {
  if (data === undefined) return skipped(CHECK, 'the configuration names no data directory');
  try {
    const seeker = { data, version: PRODUCT.version, clock, random: systemRandom };
    const status = await readEngineStatus(seeker);
    if (!status) return skipped(CHECK, 'none runs here; a window starts one');
    const { pid, version, role, uptimeMs, windows, waitingTasks, socket } = status;
    const kind = role === 'engine' ? 'background engine' : 'gateway over HTTP';
    const detail = `${kind}, process ${pid}, longcall ${version}, up ${formatSpan(uptimeMs)}, ${windows} windows, ${socket}`;
    if (version !== PRODUCT.version)
      return warn(CHECK, {
        detail: `${detail}; this is longcall ${PRODUCT.version}`,
        hint: '`longcall engine restart` puts this version in its place',
      });
    if (waitingTasks > 0)
      return warn(CHECK, {
        detail: `${detail}; ${waitingTasks} tasks wait for a window of their project`,
        hint: 'open the project in its host again, or cancel them',
      });
    return ok(CHECK, detail);
  } catch (error) {
    if (!(error instanceof LongcallError)) throw error;
    // What is wrong with the directory is another check's to say.
    if (error.code === 'LONGCALL_DATA_UNUSABLE') return skipped(CHECK, error.message);
    const { message, hint = 'longcall.log in the data directory says more' } = error;
    return fail(CHECK, { detail: message, hint });
  }
}
