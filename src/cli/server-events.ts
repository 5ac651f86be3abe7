/** One server-sent event that carries data. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

const EVENT_CHARS_MAX = 1024 * 1024;

function parseBlock(block: string): ServerEvent | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+):? ?(.*)$/.exec(line) ?? [];
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { event, data: data.join('\n') };
}

/** Reads a `text/event-stream` as its events come; comments, ids and what is cut off at the end are left out. */
export async function* readServerEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true }).replaceAll('\r', '');
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    if (pending.length > EVENT_CHARS_MAX)
      throw new RangeError('an event of the stream is too long');
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event) yield event;
    }
  }
}
