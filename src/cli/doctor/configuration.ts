import type { GatewayConfig } from '../../gateway/config/config.ts';
import { loadConfig } from '../../gateway/config/load.ts';
import type { LoadConfigOptions } from '../../gateway/config/load.ts';
import { ConfigInvalidError, formatProblem } from '../../gateway/config/problems.ts';
import { messageOf } from '../../kernel/logger.ts';
import { fail, ok } from './finding.ts';
import type { Finding } from './finding.ts';

export interface ExaminedConfig {
  readonly finding: Finding;
  /** What a gateway started here would run with; absent where it would not start. */
  readonly config?: GatewayConfig;
}

export function examineConfig(options: LoadConfigOptions): ExaminedConfig {
  try {
    const { config, file } = loadConfig(options);
    const detail = file ?? 'no file: defaults, environment and flags';
    return { config, finding: ok('config', detail) };
  } catch (error) {
    return {
      finding: fail('config', {
        detail: detailOf(error),
        hint: '`longcall config validate` says all',
      }),
    };
  }
}

function detailOf(error: unknown): string {
  const first = error instanceof ConfigInvalidError ? error.problems[0] : undefined;
  return first === undefined ? messageOf(error) : `${messageOf(error)}: ${formatProblem(first)}`;
}
