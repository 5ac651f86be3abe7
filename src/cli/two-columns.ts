import type { ProtocolDocument, TaskDocument } from '../admin/documents.ts';
import { isDoubtful } from '../runtime/two-answers.ts';
import type { NamedReading, ReadingName } from '../runtime/two-answers.ts';
import type { CallOrigin, TaskStatus } from '../protocol/model.ts';
import type { Style, Tone } from './output/style.ts';
import type { Cell } from './output/table.ts';

const STATUS_TONES = {
  working: 'active',
  input_required: 'doubt',
  completed: 'good',
  failed: 'bad',
  cancelled: 'quiet',
} as const satisfies Record<TaskStatus, Tone>;

/** The status as whoever made the call sees it; a call without Tasks is shown as the newest generation's. */
export function ownStatus(protocol: ProtocolDocument, origin: CallOrigin): TaskStatus {
  return protocol.status[origin === '2025-11-25' ? origin : '2026-07-28'];
}

/** The first column: the protocol's word, with what the two generations would otherwise tell apart. */
export function protocolCell(
  task: Pick<TaskDocument, 'protocol' | 'origin' | 'cancelRequestedAt'>,
  style: Style,
): Cell {
  const status = ownStatus(task.protocol, task.origin);
  const isStopping = task.cancelRequestedAt !== null && task.protocol.phase !== 'ended';
  const remark = isStopping ? ' (cancelling)' : remarkOf(task.protocol);
  const isToolError = task.protocol.ending === 'tool_error';
  const tone = isToolError ? 'bad' : STATUS_TONES[status];
  return { text: signed(style, tone, `${status}${remark}`), tone };
}

const remarkOf = ({ ending }: ProtocolDocument): string =>
  ending === 'tool_error' ? ' (tool error)' : '';

const SETTLED_TONES: Partial<Readonly<Record<ReadingName, Tone>>> = {
  done: 'good',
  happened_early: 'good',
  happened_anyway: 'bad',
  refused: 'bad',
  refused_early: 'bad',
  completed_without_effect: 'bad',
  disputed: 'bad',
  nothing: 'quiet',
  read_running: 'quiet',
  read_ended: 'quiet',
  not_sent: 'quiet',
  in_flight: 'active',
};

/** The second column: what is known of the effect. What is neither confirmed nor denied is shown as a doubt. */
export function outcomeCell({ name, words }: NamedReading, style: Style): Cell {
  const tone = SETTLED_TONES[name] ?? 'doubt';
  return { text: signed(style, tone, words), tone };
}

/** On a terminal a sign repeats the colour; elsewhere the words stand alone, so that they can be searched. */
function signed(style: Style, tone: Tone, words: string): string {
  const sign = Number.isFinite(style.width) ? style.sign(tone) : '';
  return sign === '' ? words : `${sign} ${words}`;
}

/**
 * How a command that waited for a task ends (ux §3.2): 8 where the effect is in doubt, whatever the status says, 5 for
 * a tool's own error, 1 for failed, cancelled, or completed without its effect, 0 otherwise.
 */
export function exitCodeOf({
  protocol,
  outcome,
}: Pick<TaskDocument, 'protocol' | 'outcome'>): number {
  if (isDoubtful(outcome.name)) return 8;
  if (protocol.ending === 'tool_error') return 5;
  const isGood = protocol.ending === 'result' && !WITHOUT_EFFECT.includes(outcome.name);
  return isGood ? 0 : 1;
}

const WITHOUT_EFFECT: readonly ReadingName[] = ['refused', 'completed_without_effect'];
