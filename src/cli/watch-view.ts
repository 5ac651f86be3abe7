import { SCHEMA_VERSION } from '../admin/documents.ts';
import type { TaskDocument } from '../admin/documents.ts';
import type { ProgressDocument } from '../admin/watch-route.ts';
import type { WatchEvent } from './follow-task.ts';
import type { CliIo } from './io.ts';
import { jsonText } from './output/json.ts';
import type { Style } from './output/style.ts';
import { oneLine, truncate } from './output/text-width.ts';
import { formatClock } from './output/time.ts';
import { outcomeCell, protocolCell } from './two-columns.ts';

/** Shows a watch as it goes. */
export interface WatchView {
  show(event: WatchEvent): void;
  /** Leaves the line that is being rewritten, so that what comes next starts on its own. */
  finish(): void;
}

const TICK_MS = 1_000;
const CLEAR_LINE = '\r\u001b[2K';

/** Each event as one line of JSON on stdout. */
export function createJsonlView(io: CliIo): WatchView {
  const write = (event: string, body: object): void =>
    io.stdout(jsonText({ schemaVersion: SCHEMA_VERSION, event, ...body }, false));
  return {
    show(event) {
      if (event.kind === 'task') write('task', { task: event.task });
      if (event.kind === 'progress') write('progress', { progress: event.progress });
      if (event.kind === 'end') write('end', { end: event.end });
      if (event.kind === 'lost') write('lost', {});
    },
    finish: () => undefined,
  };
}

interface Shown {
  task?: TaskDocument;
  progress?: ProgressDocument;
  isLost: boolean;
}

function take(shown: Shown, event: WatchEvent): void {
  if (event.kind === 'task') shown.task = event.task;
  if (event.kind === 'progress') shown.progress = event.progress;
  shown.isLost = event.kind === 'lost';
}

/** The two columns, then `hint`, and the peer's words last: they are what may be cut off. */
function stateLine({ task, progress, isLost }: Shown, style: Style, hint: string): string {
  if (isLost || task === undefined)
    return `the gateway is away; waiting for it   ${hint}`.trimEnd();
  const protocol = protocolCell(task, style);
  const outcome = outcomeCell(task.outcome, style);
  const parts = [
    style.paint(protocol.tone ?? 'plain', protocol.text) + percentOf(progress),
    style.paint(outcome.tone ?? 'plain', outcome.text),
    hint,
    oneLine(progress?.message ?? task.message ?? ''),
  ];
  return parts.filter((part) => part !== '').join('   ');
}

function percentOf(progress: ProgressDocument | undefined): string {
  const { progress: done, total } = progress ?? {};
  if (typeof done !== 'number') return '';
  if (typeof total !== 'number' || total <= 0) return ` ${done}`;
  return ` ${Math.min(100, Math.floor((100 * done) / total))}%`;
}

/** A line on stderr for each change. */
export function createLineView(io: CliIo, style: Style): WatchView {
  const shown: Shown = { isLost: false };
  let last = '';
  return {
    show(event) {
      if (event.kind === 'end') return;
      take(shown, event);
      const line = stateLine(shown, style, '');
      if (line !== last) io.stderr(`${line}\n`);
      last = line;
    },
    finish: () => undefined,
  };
}

/** One line on a terminal's stderr that is rewritten, with a clock that shows that somebody still looks. */
export function createLiveView(io: CliIo, style: Style): WatchView {
  const shown: Shown = { isLost: false };
  const startedAt = io.clock.monotonic();
  const plain = { ...style, paint: (_: string, text: string) => text };
  const draw = (): void => {
    const since = formatClock(io.clock.monotonic() - startedAt);
    const line = `${since}   ${stateLine(shown, plain, 'Ctrl-C detaches')}`;
    io.stderr(CLEAR_LINE + truncate(line, Math.max(20, io.columns - 1), style.ellipsis));
  };
  const tick = (): void => {
    draw();
    timer = io.clock.after(TICK_MS, tick);
  };
  let timer = io.clock.after(TICK_MS, tick);
  return {
    show(event) {
      take(shown, event);
      draw();
    },
    finish() {
      timer.cancel();
      io.stderr(CLEAR_LINE);
    },
  };
}
