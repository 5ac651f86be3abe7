import { askIfThere, type EngineSeeker } from '../background/reach-engine.ts';
import { isJsonObject, stringAt, type Json, type JsonObject } from '../kernel/json.ts';
import type { Printer } from './output/printer.ts';
import { oneLine } from './output/text-width.ts';
import { formatSpan } from './output/time.ts';

/** What a running engine says of itself. */
export interface EngineStatus {
  /** `engine`: started by windows. `gateway`: over HTTP, started by somebody; it takes in windows, too. */
  readonly role: string;
  readonly pid: number;
  readonly version: string;
  readonly socket: string;
  readonly uptimeMs: number;
  /** Absent where it does not end by itself. */
  readonly idleExitMs: number | null;
  readonly windows: number;
  readonly openTasks: number;
  /** Of them those that wait for a window of their project. */
  readonly waitingTasks: number;
  readonly projects: readonly EngineProject[];
}

export interface EngineProject {
  readonly folder: string;
  readonly windows: number;
  readonly upstreams: readonly string[];
}

/** Nothing where no engine runs. */
export async function readEngineStatus(seeker: EngineSeeker): Promise<EngineStatus | undefined> {
  const answer = await askIfThere(seeker, { purpose: 'status', body: {} });
  if (answer.kind === 'no') throw answer.error;
  if (answer.kind === 'nobody' || !answer.record) return undefined;
  answer.socket.destroy();
  const { body, version, record } = answer;
  const { idleExitMs, projects } = body;
  return {
    role: stringAt(body, 'role') ?? record.role,
    pid: record.pid,
    version,
    socket: record.socket,
    uptimeMs: numberOf(body, 'uptimeMs'),
    idleExitMs: typeof idleExitMs === 'number' ? idleExitMs : null,
    windows: numberOf(body, 'windows'),
    openTasks: numberOf(body, 'openTasks'),
    waitingTasks: numberOf(body, 'waitingTasks'),
    projects: Array.isArray(projects) ? projects.flatMap(projectIn) : [],
  };
}

const numberOf = (body: JsonObject, member: string): number => Number(body[member] ?? 0);

function projectIn(value: Json): readonly EngineProject[] {
  if (!isJsonObject(value)) return [];
  const { upstreams } = value;
  return [
    {
      folder: stringAt(value, 'folder') ?? '',
      windows: numberOf(value, 'windows'),
      upstreams: Array.isArray(upstreams) ? upstreams.map(String) : [],
    },
  ];
}

export function printEngine(printer: Printer, status: EngineStatus): void {
  const { role, pid, version, uptimeMs, idleExitMs, windows, openTasks, waitingTasks } = status;
  const kind = role === 'engine' ? 'background engine' : 'gateway over HTTP';
  const ends =
    idleExitMs === null ? 'when it is told to' : `${formatSpan(idleExitMs)} after the last need`;
  const waiting = waitingTasks === 0 ? '' : `, ${waitingTasks} of them wait for their window`;
  printer.facts([
    ['engine', { text: `${kind}, process ${pid}, longcall ${version}`, tone: 'good' }],
    ['up', { text: formatSpan(uptimeMs) }],
    ['ends', { text: ends }],
    ['windows', { text: String(windows) }],
    ['tasks', { text: `${openTasks} open${waiting}` }],
    ['socket', { text: status.socket }],
    ...status.projects.map(
      ({ folder, windows: open, upstreams }) =>
        [
          'project',
          { text: oneLine(`${folder}: ${upstreams.join(', ')} (${open} windows)`) },
        ] as const,
    ),
  ]);
}
