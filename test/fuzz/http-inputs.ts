import { mutateBytes, mutateMessage, mutateText, oddText } from './json-mutations.ts';
import type { Sending } from './raw-http.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Message } from './valid-messages.ts';

/** A request before it is bytes. Headers are lines, so that they can be doubled and broken. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** One input, with what may be expected of its answer. */
export interface HttpInput extends Pick<Sending, 'bytes' | 'then' | 'answers'> {
  readonly what: string;
  /** `whole`: HTTP without a fault, so it must be answered. `broken`: it may also be closed. */
  readonly framing: 'whole' | 'broken';
}

type Headers = readonly (readonly [name: string, value: string])[];

/** A request that would be answered well. */
export interface GoodRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body?: Message;
}

/** How good requests look at one door. */
export interface Door {
  readonly path: string;
  readonly host: string;
  readonly requests: readonly GoodRequest[];
  /** Values that mean something here, for headers and targets. */
  readonly words: readonly string[];
}

const ODD_VALUES = [
  '',
  ' ',
  '*',
  'null',
  'undefined',
  '0',
  '-1',
  'text/plain',
  'application/json; charset=utf-16',
  'application/json;',
  'text/html',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json, text/plain',
  'text/event-stream',
  'Bearer',
  'Bearer ',
  'Bearer x',
  'Basic YTpi',
  'bearer token',
  'gzip',
  'deflate, br',
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
  '2099-01-01',
  'http://evil.example',
  'null, null',
  '=?base64?AAAA?=',
  '=?base64?!?=',
  '=?base64??=',
  'ses_AAAAAAAAAAAAAAAAAAAAAAAAAAA',
  '../..',
  '%00',
  '\u00ff\u00fe',
  'a\tb',
  '100-continue',
  'close',
  'upgrade',
  'websocket',
] as const;

const NAMES = [
  'accept',
  'content-type',
  'authorization',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'origin',
  'host',
  'content-encoding',
  'expect',
  'connection',
  'upgrade',
  'mcp-param-x',
  'cookie',
  'x-forwarded-host',
  'te',
  '__proto__',
  'constructor',
] as const;

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'PATCH',
  'TRACE',
  'get',
  'CONNECT',
  'BREW',
  'PRI',
] as const;

/** Bodies above the limit of 4 MiB are few: each costs what hundreds of others do. */
const OVERSIZED_BYTES = 5 * 1024 ** 2;
const OVERSIZED_SHARE = 0.001;

/** Makes one input for a door. */
export function makeHttpInput(door: Door, random: SeededRandom): HttpInput {
  const good = random.pick(door.requests);
  const request = plain(door, good);
  if (random.chance(OVERSIZED_SHARE)) return oversized(request, random);
  const kind = random.below(100);
  if (kind < 2) return whole('good', request);
  if (kind < 55)
    return whole(
      'mutated message',
      withBody(request, Buffer.from(mutateMessage(good.body ?? {}, random))),
    );
  if (kind < 75) return mutatedHeaders(door, request, random);
  if (kind < 83) return whole('damaged body', withBody(request, damagedBody(request.body, random)));
  if (kind < 88) return whole('odd target', { ...request, ...oddTarget(door, random) });
  if (kind < 91) return twoAtOnce(door, request, random);
  if (kind < 93) return { ...whole('vanishing', request), then: 'vanish', framing: 'broken' };
  return brokenFraming(request, random);
}

const plain = ({ host }: Door, { method, target, headers, body }: GoodRequest): Request => ({
  method,
  target,
  headers: [['host', host], ...headers],
  body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
});

const withBody = (request: Request, body: Buffer): Request => ({ ...request, body });

/** The bytes of a request; the length is the true one unless a header says another. */
export function bytesOf({ method, target, headers, body }: Request): Buffer {
  const says = (name: string): boolean => headers.some(([header]) => header.toLowerCase() === name);
  const framed = says('content-length') || says('transfer-encoding');
  const lines = [...headers, ...(framed ? [] : [['content-length', String(body.length)] as const])];
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body]);
}

/** An input that is HTTP without a fault. */
export const whole = (what: string, request: Request): HttpInput => ({
  what,
  bytes: bytesOf(request),
  then: 'wait',
  answers: 1,
  framing: 'whole',
});

function mutatedHeaders(door: Door, request: Request, random: SeededRandom): HttpInput {
  const headers = request.headers.map((header) => [...header] as [string, string]);
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(headers.length);
    const chosen = headers[at] ?? ['host', door.host];
    const value = random.chance(0.4) ? random.pick(door.words) : random.pick(ODD_VALUES);
    const kind = random.below(6);
    if (kind === 0) headers.splice(at, 1);
    else if (kind === 1) headers.push([chosen[0], random.chance(0.5) ? chosen[1] : value]);
    else if (kind === 2) headers.push([random.pick(NAMES), value]);
    else if (kind === 3)
      headers.push([
        `x-${random.below(1_000)}`,
        'h'.repeat(random.pick([10, 1_000, 9_000, 20_000])),
      ]);
    else if (kind === 4)
      headers.push(
        ...Array.from({ length: 120 }, (_, n) => [`x-many-${n}`, 'v'] as [string, string]),
      );
    else headers.splice(at, 1, [chosen[0], value]);
  }
  return whole('mutated headers', { ...request, headers });
}

function damagedBody(body: Buffer, random: SeededRandom): Buffer {
  const kind = random.below(6);
  if (kind === 0) return random.bytes(random.below(200));
  if (kind === 1) return Buffer.from(mutateText(body.toString(), random));
  if (kind === 2) return mutateBytes(body, random);
  if (kind === 3) return Buffer.from(oddText(random));
  if (kind === 4) return Buffer.concat([body, Buffer.from('\n'), body]);
  return Buffer.from(
    `[${Array.from({ length: 1 + random.below(40) }, () => body.toString()).join(',')}]`,
  );
}

function oddTarget(door: Door, random: SeededRandom): Pick<Request, 'method' | 'target'> {
  const { path } = door;
  const targets = [
    path,
    `${path}/`,
    `${path}?a=b`,
    `/${path}`,
    `${path}%00`,
    `${path}/../..`,
    '/',
    '*',
    '/%',
    `${path}#x`,
    `http://${door.host}${path}`,
    `${path}?${'q'.repeat(3_000)}`,
    `${path}?limit=${random.below(10_000)}&cursor=AAAA`,
    ...door.words.map((word) => `${path}/${encodeURIComponent(word)}`),
  ];
  // HEAD has an answer without the body that its head announces, CONNECT none that could be told from a tunnel.
  return {
    method: random.pick(METHODS.filter((method) => method !== 'HEAD' && method !== 'CONNECT')),
    target: random.pick(targets),
  };
}

function twoAtOnce(door: Door, request: Request, random: SeededRandom): HttpInput {
  const other = random.pick(door.requests);
  const second = withBody(plain(door, other), Buffer.from(mutateMessage(other.body ?? {}, random)));
  return {
    ...whole('two at once', request),
    bytes: Buffer.concat([bytesOf(request), bytesOf(second)]),
    answers: 2,
    framing: 'broken',
  };
}

function oversized(request: Request, random: SeededRandom): HttpInput {
  const body = Buffer.from(
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'y'.repeat(OVERSIZED_BYTES)}"}}`,
  );
  const chunked = random.chance(0.5);
  const headers = chunked
    ? [...request.headers, ['transfer-encoding', 'chunked'] as const]
    : request.headers;
  const framed = chunked ? chunkedBody(body) : body;
  return whole('oversized', { ...request, headers, body: framed });
}

const chunkedBody = (body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);

/** HTTP that is none: lengths that lie, chunks that are garbage, heads that are cut off. */
function brokenFraming(request: Request, random: SeededRandom): HttpInput {
  const { body, headers } = request;
  const wholeBytes = bytesOf(request);
  const withHeader = (name: string, value: string, framed: Buffer = body): Buffer =>
    bytesOf({ ...request, headers: [...headers, [name, value]], body: framed });
  const cases: readonly (readonly [string, () => Buffer])[] = [
    [
      'too long a length',
      () => withHeader('content-length', String(body.length + 1 + random.below(1_000))),
    ],
    [
      'too short a length',
      () => withHeader('content-length', String(random.below(body.length + 1))),
    ],
    [
      'no length at all',
      () =>
        withHeader(
          'content-length',
          random.pick(['', '-1', '1e3', '0x10', '999999999999999999999', 'x']),
        ),
    ],
    [
      'two lengths',
      () =>
        bytesOf({
          ...request,
          headers: [...headers, ['content-length', '5'], ['content-length', '6']],
        }),
    ],
    [
      'length and chunks',
      () =>
        bytesOf({
          ...request,
          headers: [...headers, ['content-length', '5'], ['transfer-encoding', 'chunked']],
        }),
    ],
    ['chunks that are garbage', () => withHeader('transfer-encoding', 'chunked', random.bytes(30))],
    [
      'chunks without an end',
      () => withHeader('transfer-encoding', 'chunked', chunkedBody(body).subarray(0, -5)),
    ],
    [
      'a chunk that lies',
      () =>
        withHeader('transfer-encoding', 'chunked', Buffer.from(`fffffffff\r\n${body.toString()}`)),
    ],
    [
      'an unknown coding',
      () =>
        withHeader('transfer-encoding', random.pick(['gzip', 'identity', 'chunked, gzip', 'x'])),
    ],
    ['a head cut off', () => wholeBytes.subarray(0, random.below(wholeBytes.indexOf('\r\n\r\n')))],
    [
      'a body cut off',
      () => wholeBytes.subarray(0, wholeBytes.length - 1 - random.below(body.length + 1)),
    ],
    ['random bytes', () => random.bytes(1 + random.below(300))],
    ['random bytes in the head', () => mutateBytes(wholeBytes, random)],
    [
      'line feeds only',
      () => Buffer.from(wholeBytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
    ],
    [
      'another protocol',
      () =>
        Buffer.from(
          random.pick([
            'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
            '\u0016\u0003\u0001\u0002',
            'GET /\r\n\r\n',
            'POST /mcp HTTP/9.9\r\n\r\n',
          ]),
          'latin1',
        ),
    ],
    [
      'a folded header',
      () => bytesOf({ ...request, headers: [...headers, ['x-folded', 'a\r\n b']] }),
    ],
    ['a header without a name', () => bytesOf({ ...request, headers: [...headers, ['', 'x']] })],
    ['a header with a space', () => bytesOf({ ...request, headers: [...headers, ['x y', 'z']] })],
  ];
  const [what, make] = random.pick(cases);
  return {
    what,
    bytes: make(),
    then: random.chance(0.9) ? 'half-close' : 'vanish',
    answers: 1,
    framing: 'broken',
  };
}
