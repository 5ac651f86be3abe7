const NEWLINE = 10;
/** How much is kept of both ends of a line that is too long: enough to find an id in it. */
const EXCERPT_BYTES = 512;

export interface LineReaderOptions {
  /** Longest line in bytes; longer ones are read past and reported. */
  readonly maxBytes: number;
  onLine(text: string, bytes: number): void;
  /** `excerpt`: the first and the last bytes of the line, as text. */
  onTooLong(excerpt: string, bytes: number): void;
}

/** Cuts a byte stream into lines. A line that is too long costs neither the memory nor the connection. */
export function createLineReader(options: LineReaderOptions): { push(chunk: Buffer): void } {
  let parts: Buffer[] = [];
  let size = 0;
  let head: Buffer | undefined;
  let tail = Buffer.alloc(0);

  const keep = (part: Buffer): void => {
    size += part.length;
    if (head === undefined) parts.push(part);
    if (head === undefined && size <= options.maxBytes) return;
    head ??= Buffer.concat(parts).subarray(0, EXCERPT_BYTES);
    tail = Buffer.concat([tail, part]).subarray(-EXCERPT_BYTES);
    parts = [];
  };
  const finish = (): void => {
    if (head !== undefined)
      options.onTooLong(`${head.toString('utf8')} … ${tail.toString('utf8')}`, size);
    else if (size > 0)
      options.onLine(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''), size);
    [parts, size, head, tail] = [[], 0, undefined, Buffer.alloc(0)];
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
  };
}
