/** What the front has to know of a message that it passes on: nothing of what it says. */
export interface Envelope {
  /** The id as it was written, as JSON; absent where there is none, or it is `null`. */
  readonly id?: string;
  /** Absent in an answer. */
  readonly method?: string;
  /** Of a cancel: whose, as JSON. */
  readonly cancels?: string;
}

/** Reads a stream of lines as it passes. */
export interface EnvelopeScanner {
  push(chunk: Uint8Array): void;
  /** Whether everything so far ended with a line. */
  atLineStart(): boolean;
}

/** Longer names and ids are passed on like all others, and not known of. */
const TEXT_BYTES_MAX = 1024;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACES: readonly number[] = [0x09, 0x0d, 0x20];

/** Where in a line the scanner stands. Levels are counted from the message, whether or not it is one of a batch. */
interface Place {
  depth: number;
  /** 1 inside a batch. */
  base: number;
  inText: boolean;
  escaped: boolean;
  /** The member whose value comes next, on the first level and on the second one. */
  readonly keys: [first: string | undefined, second: string | undefined];
  /** Bytes of the text or word that is being read; absent where it is of no interest. */
  held: number[] | undefined;
  found: { id?: string; method?: string; cancels?: string };
}

const lineStart = (): Place => ({
  depth: 0,
  base: 0,
  inText: false,
  escaped: false,
  keys: [undefined, undefined],
  held: undefined,
  found: {},
});

/**
 * Finds ids and methods in lines of JSON-RPC without building them: a result of many megabytes costs no memory here.
 * What is no JSON is passed over; whoever reads it says so.
 */
export function createEnvelopeScanner(onMessage: (envelope: Envelope) => void): EnvelopeScanner {
  let place = lineStart();
  let isFresh = true;
  return {
    push(chunk) {
      for (const byte of chunk) {
        isFresh = byte === NEWLINE;
        if (isFresh) place = lineStart();
        else if (place.inText) readText(place, byte);
        else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) close(place, byte, onMessage);
        else readOutside(place, byte);
      }
    },
    atLineStart: () => isFresh,
  };
}

const levelOf = ({ depth, base }: Place): number => depth - base;

function readText(place: Place, byte: number): void {
  hold(place, byte);
  if (place.escaped) place.escaped = false;
  else if (byte === BACKSLASH) place.escaped = true;
  else if (byte === QUOTE) place.inText = false;
}

function readOutside(place: Place, byte: number): void {
  if (byte === QUOTE) {
    place.inText = true;
    place.held = isOfInterest(place) ? [byte] : undefined;
  } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) open(place, byte);
  else if (byte === COMMA) endValue(place);
  else if (byte === COLON) endKey(place);
  else if (!SPACES.includes(byte)) {
    if (!place.held && isOfInterest(place)) place.held = [];
    hold(place, byte);
  }
}

function open(place: Place, byte: number): void {
  place.held = undefined;
  if (byte === OPEN_LIST && place.depth === 0) place.base = 1;
  place.depth += 1;
  if (levelOf(place) === 2) place.keys[1] = undefined;
}

function close(place: Place, byte: number, onMessage: (envelope: Envelope) => void): void {
  endValue(place);
  if (byte === CLOSE_OBJECT && levelOf(place) === 1) {
    const { id, method, cancels } = place.found;
    if (id !== undefined || method !== undefined)
      onMessage({
        ...(id !== undefined && { id }),
        ...(method !== undefined && { method }),
        ...(cancels !== undefined && method === 'notifications/cancelled' && { cancels }),
      });
    place.found = {};
    place.keys.fill(undefined);
  }
  place.depth -= 1;
}

/** A key of the message or of its params, or a value of one that counts. */
function isOfInterest(place: Place): boolean {
  const level = levelOf(place);
  if (level !== 1 && !(level === 2 && place.keys[0] === 'params')) return false;
  const key = place.keys[level - 1];
  if (key === undefined) return true; // it may be a key
  return level === 1 ? key === 'id' || key === 'method' : key === 'requestId';
}

function hold(place: Place, byte: number): void {
  if (!place.held) return;
  place.held.push(byte);
  if (place.held.length > TEXT_BYTES_MAX) place.held = undefined;
}

function take(place: Place): string | undefined {
  const text = place.held && Buffer.from(place.held).toString('utf8');
  place.held = undefined;
  return text;
}

function endKey(place: Place): void {
  const level = levelOf(place);
  if (level === 1 || level === 2) place.keys[level - 1] = plain(take(place) ?? '');
}

/** A value is over: at a comma, or where what it stands in is closed. */
function endValue(place: Place): void {
  const level = levelOf(place);
  if (level !== 1 && level !== 2) return;
  const [key, word] = [place.keys[level - 1], take(place)];
  place.keys[level - 1] = undefined;
  if (key === undefined || word === undefined || word === 'null') return;
  const method = key === 'method' ? plain(word) : undefined;
  if (method !== undefined) place.found.method = method;
  if (key === 'id') place.found.id = word;
  if (key === 'requestId') place.found.cancels = word;
}

/** The text that a JSON string stands for; nothing where it is none. */
function plain(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The same for ids that mean the same, however they are written. */
export function sameId(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
