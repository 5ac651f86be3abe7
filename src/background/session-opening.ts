import type { Duplex } from 'node:stream';
import { readFrame } from './frames.ts';

/** The longest opening line that is kept. */
const LINE_BYTES_MAX = 64 * 1024;
const NEWLINE = Uint8Array.of(0x0a);

/** What leaves more of a session in the engine than its opening. */
const LEAVES_STATE: readonly string[] = ['resources/subscribe', 'logging/setLevel'];

/**
 * How the host has opened its session, so that another engine can be told the same: `initialize` and what follows it.
 * Requests of 2026-07-28 stand alone and need none.
 */
export interface SessionOpening {
  /** More of the line that is being passed, without its end. */
  add(bytes: Uint8Array): void;
  endLine(): void;
  /** The line so far is a message of that method. */
  said(method: string): void;
  /** Whether the engine keeps nothing of this session that its opening would not bring back. */
  isAll(): boolean;
  /** Opens the same session there. Its answer is not the host's to see a second time. */
  repeat(engine: Duplex): Promise<void>;
}

export function createSessionOpening(): SessionOpening {
  let line: Uint8Array[] = [];
  let lineBytes = 0;
  let initialize: Buffer | undefined;
  let initialized: Buffer | undefined;
  let isAll = true;

  const whole = (): Buffer | undefined => {
    if (lineBytes <= LINE_BYTES_MAX) return Buffer.concat([...line, NEWLINE]);
    isAll = false;
    return undefined;
  };
  return {
    add(bytes) {
      lineBytes += bytes.length;
      if (lineBytes <= LINE_BYTES_MAX) line.push(bytes);
    },
    endLine() {
      line = [];
      lineBytes = 0;
    },
    said(method) {
      if (LEAVES_STATE.includes(method)) isAll = false;
      if (method === 'initialize') initialize = whole();
      if (method === 'notifications/initialized') initialized = whole();
    },
    isAll: () => isAll,
    async repeat(engine) {
      if (!initialize) return;
      engine.write(initialize);
      for (let isOpen = false; !isOpen;) {
        const frame = await readFrame(engine);
        isOpen = 'result' in frame || 'error' in frame;
      }
      if (initialized) engine.write(initialized);
    },
  };
}
