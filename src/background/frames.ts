import type { Duplex } from 'node:stream';
import { isJsonObject, type JsonObject } from '../kernel/json.ts';

/** The largest frame: the upstreams of one window with their policy. */
const FRAME_BYTES_MAX = 4 * 1024 ** 2;
const NEWLINE = 0x0a;

/** One JSON object a line, before the lines of MCP begin. */
export const writeFrame = (to: Duplex, frame: JsonObject): void =>
  void to.write(`${JSON.stringify(frame)}\n`);

/**
 * The next line, as an object; what came behind it is left in the stream. Rejects when the stream ends before, and
 * with a line that is too long or no object.
 */
export function readFrame(from: Duplex): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const held: Buffer[] = [];
    let heldBytes = 0;
    const leave = (): void => {
      from.off('readable', onReadable);
      from.off('end', onGone);
      from.off('close', onGone);
      from.off('error', onGone);
    };
    const fail = (problem: string): void => {
      leave();
      reject(new Error(problem));
    };
    const onGone = (): void => fail('the other side has left');
    const finish = (): void => {
      leave();
      const frame = parse(Buffer.concat(held).toString('utf8'));
      if (frame === undefined) reject(new Error('what came is no frame'));
      else resolve(frame);
    };
    const onReadable = (): void => {
      for (let chunk = read(from); chunk !== undefined; chunk = read(from)) {
        const at = chunk.indexOf(NEWLINE);
        held.push(at < 0 ? chunk : chunk.subarray(0, at));
        heldBytes += chunk.length;
        if (at >= 0) {
          if (at + 1 < chunk.length) from.unshift(chunk.subarray(at + 1));
          return finish();
        }
        if (heldBytes > FRAME_BYTES_MAX) return fail('a frame is too long');
      }
    };
    from.on('readable', onReadable);
    from.once('end', onGone);
    from.once('close', onGone);
    from.once('error', onGone);
    if (from.destroyed || from.readableEnded) onGone();
    else onReadable();
  });
}

const read = (from: Duplex): Buffer | undefined => (from.read() as Buffer | null) ?? undefined;

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
