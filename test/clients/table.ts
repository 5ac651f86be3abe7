import { EXT_TASKS_ROWS } from './ext-tasks.ts';
import { INSPECTOR_CLI_ROWS } from './inspector-cli.ts';
import { MCPC_ROWS } from './mcpc.ts';
import { MCPDO_ROWS } from './mcpdo.ts';
import type { ClientRow } from './real-client.ts';
import { SDK_V1_ROWS } from './sdk-v1.ts';
import { SDK_V2_ROWS } from './sdk-v2.ts';

/** Every client that is shown, on every generation and transport that it has. */
export const CLIENTS: readonly ClientRow[] = [
  ...SDK_V1_ROWS,
  ...SDK_V2_ROWS,
  ...EXT_TASKS_ROWS,
  ...MCPC_ROWS,
  ...INSPECTOR_CLI_ROWS,
  ...MCPDO_ROWS,
];
