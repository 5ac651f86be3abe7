import type { WireCheck } from '../check.ts';
import { CANCEL_2025 } from './cancel-2025.ts';
import { CREATE_2025 } from './create-2025.ts';
import { EXPIRY } from './expiry.ts';
import { GATE_2026 } from './gate-2026.ts';
import { INPUT_2025 } from './input-2025.ts';
import { INPUT_2026 } from './input-2026.ts';
import { LIST_2025 } from './list-2025.ts';
import { LISTEN_2026 } from './listen-2026.ts';
import { NAMES } from './names.ts';
import { NOTIFY_2025 } from './notify-2025.ts';
import { OWNERSHIP } from './ownership.ts';
import { POLLING } from './polling.ts';
import { READ_2025 } from './read-2025.ts';
import { SESSION_2025 } from './session-2025.ts';
import { TASK_2026 } from './task-2026.ts';

/** The checks by what they are about, in the order in which a report shows them. */
export const CHECK_GROUPS: Readonly<Record<string, readonly WireCheck[]>> = {
  'creating on 2025-11-25': CREATE_2025,
  'reading on 2025-11-25': READ_2025,
  'input on 2025-11-25': INPUT_2025,
  'cancelling on 2025-11-25': CANCEL_2025,
  'listing on 2025-11-25': LIST_2025,
  'telling on 2025-11-25': NOTIFY_2025,
  'sessions of 2025-11-25': SESSION_2025,
  'requests of 2026-07-28': GATE_2026,
  'tasks of 2026-07-28': TASK_2026,
  'input on 2026-07-28': INPUT_2026,
  'subscriptions of 2026-07-28': LISTEN_2026,
  'whose task it is': OWNERSHIP,
  'how long a record is kept': EXPIRY,
  'how often it is looked at': POLLING,
  'names of the protocol': NAMES,
};

/** Every check of the suite. */
export const CHECKS: readonly WireCheck[] = Object.values(CHECK_GROUPS).flat();
