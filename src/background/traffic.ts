import { createEnvelopeScanner, sameId, type Envelope } from '../kernel/envelope-scanner.ts';
import { createSessionOpening, type SessionOpening } from './session-opening.ts';

/** A request of the host that has no answer yet. */
export interface OpenRequest {
  /** As JSON, as the host wrote it. */
  readonly id: string;
  readonly method: string;
}

/** More are passed on all the same; the oldest are then not known of any more. */
const OPEN_MAX = 10_000;
const NEWLINE = 0x0a;

/** What passes through a front, as far as it has to know it. */
export interface Traffic {
  hostSaid(chunk: Uint8Array): void;
  engineSaid(chunk: Uint8Array): void;
  /** Requests that are still owed an answer. */
  owed(): readonly OpenRequest[];
  /** Whether the host is between two lines. */
  isBetweenLines(): boolean;
  readonly opening: SessionOpening;
}

export function createTraffic(): Traffic {
  const open = new Map<string, OpenRequest>();
  const opening = createSessionOpening();
  const fromHost = createEnvelopeScanner(({ id, method, cancels }: Envelope) => {
    if (cancels !== undefined) open.delete(sameId(cancels));
    if (method === undefined) return;
    opening.said(method);
    if (id === undefined) return;
    open.set(sameId(id), { id, method });
    const [oldest] = open.keys();
    if (open.size > OPEN_MAX && oldest !== undefined) open.delete(oldest);
  });
  const fromEngine = createEnvelopeScanner(({ id, method }) => {
    if (id !== undefined && method === undefined) open.delete(sameId(id));
  });
  return {
    hostSaid(chunk) {
      for (let from = 0; from < chunk.length;) {
        const at = chunk.indexOf(NEWLINE, from);
        const end = at < 0 ? chunk.length : at;
        opening.add(chunk.subarray(from, end));
        fromHost.push(chunk.subarray(from, end + 1));
        if (at >= 0) opening.endLine();
        from = end + 1;
      }
    },
    engineSaid: fromEngine.push,
    owed: () => Array.from(open.values()),
    isBetweenLines: fromHost.atLineStart,
    opening,
  };
}
