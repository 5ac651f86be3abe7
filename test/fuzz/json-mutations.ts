import type { SeededRandom } from './seeded-random.ts';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** JSON text that stands in the place of a value. Text and not values, because some of it no value would print. */
const ODD_TEXTS = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e308',
  '1e999',
  '-1e999',
  '9007199254740993',
  '123456789012345678901234567890',
  '0.1e-400',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\ufeff"',
  '"__proto__"',
  '"constructor"',
  '"../../etc/passwd"',
  '"%00%0d%0aSet-Cookie: a=b"',
  '"\\r\\nX-Injected: 1"',
  '"=?base64?AAAA?="',
  '"tsk_"',
  '"tsk_AAAAAAAAAAAAAAAAAAAAAAAAAAA"',
  '"\\u202e\\u2066\\u0007"',
  '"🦀"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"":{}}',
  '[1,2,3]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"valueOf":2}',
  '{"length":-1}',
  '{"then":1}',
  '"2026-07-28"',
  '"2025-11-25"',
  '"9999-12-31"',
  '{"ttl":-1}',
  '{"ttl":"x"}',
] as const;

const LONG_CHARS = [100, 1_000, 20_000] as const;
const DEPTHS = [10, 63, 64, 65, 200, 5_000] as const;

/** A value that does not belong where it is put, as JSON text. */
export function oddText(random: SeededRandom): string {
  if (random.chance(0.06)) return JSON.stringify('x'.repeat(random.pick(LONG_CHARS)));
  if (random.chance(0.04)) return nested(random.pick(DEPTHS), random.chance(0.5));
  if (random.chance(0.05)) return JSON.stringify(random.bytes(12).toString('latin1'));
  if (random.chance(0.03)) return `[${'0,'.repeat(2_000)}0]`;
  return random.pick(ODD_TEXTS);
}

function nested(depth: number, asObjects: boolean): string {
  const [open, close] = asObjects ? ['{"a":', '}'] : ['[', ']'];
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}

/** Names that mean something somewhere, and some that must not. */
const NAMES = [
  'task',
  'taskId',
  'ttl',
  'name',
  'arguments',
  '_meta',
  'cursor',
  'id',
  'jsonrpc',
  'method',
  'params',
  'result',
  'error',
  'requestState',
  'inputResponses',
  'progressToken',
  'taskIds',
  'notifications',
  'capabilities',
  'extensions',
  'uri',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  'io.modelcontextprotocol/tasks',
  'io.modelcontextprotocol/related-task',
  'io.modelcontextprotocol/protocolVersion',
  'dev.longcall/idempotencyKey',
] as const;

/** A hole in printed JSON: a text of its own is put there, so that it can be what no value prints. */
interface Hole {
  readonly mark: string;
  readonly text: string;
}

interface Place {
  readonly holder: Json[] | { [member: string]: Json };
  readonly key: string | number;
}

function placesIn(value: Json): Place[] {
  if (value === null || typeof value !== 'object') return [];
  const keys = Array.isArray(value) ? value.map((_, at) => at) : Object.keys(value);
  return keys.flatMap((key) => {
    const member = (value as Record<string | number, Json>)[key] as Json;
    return [{ holder: value, key }, ...placesIn(member)];
  });
}

const set = ({ holder, key }: Place, value: Json): void => {
  (holder as Record<string | number, Json>)[key] = value;
};

/** Changes a message in one to three places, and prints it. What it prints need not be JSON any more. */
export function mutateMessage(message: object, random: SeededRandom): string {
  const copy = structuredClone(message) as { [member: string]: Json };
  const holes: Hole[] = [];
  const hole = (text: string): string => {
    const mark = `@@${holes.length}@@`;
    holes.push({ mark, text });
    return mark;
  };
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const places = placesIn(copy);
    if (places.length > 0) change(random.pick(places), random, hole);
  }
  const root = random.chance(0.03) ? hole(oddText(random)) : copy;
  const printed = JSON.stringify(random.chance(0.03) ? [root, copy] : root);
  const filled = holes.reduce(
    (text, { mark, text: odd }) => text.replace(`"${mark}"`, () => odd),
    printed,
  );
  return random.chance(0.1) ? mutateText(filled, random) : filled;
}

function change(place: Place, random: SeededRandom, hole: (text: string) => string): void {
  const { holder, key } = place;
  const kind = random.below(10);
  if (kind < 6) return set(place, hole(oddText(random)));
  if (kind < 8)
    return void (Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key]);
  if (Array.isArray(holder)) return void holder.push(hole(oddText(random)));
  // A member that is there already is printed twice: the name goes in with a value that closes and opens again.
  const name = random.pick(NAMES);
  if (random.chance(0.5)) {
    const value = hole(oddText(random));
    // Assigned, `__proto__` would become no member.
    Object.defineProperty(holder, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else set(place, hole(`0,${JSON.stringify(name)}:${oddText(random)}`));
}

/** Damages text: cut off, cut out, doubled, with characters that do not belong there. */
export function mutateText(text: string, random: SeededRandom): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + 1 + random.below(8));
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(at);
    case 3:
      return text + text;
    case 4:
      return `\ufeff${text}`;
    default:
      return (
        text.slice(0, at) +
        random.pick(['\u0000', '"', '{', '}', '\\', ',', "'", '/*', 'NaN', '\u2028']) +
        text.slice(at)
      );
  }
}

/** Damages bytes, mostly so that they are no UTF-8 any more. */
export function mutateBytes(bytes: Buffer, random: SeededRandom): Buffer {
  const at = random.below(bytes.length + 1);
  const odd = random.pick([
    Buffer.from([0xff]),
    Buffer.from([0xc0, 0xaf]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0xf4, 0x90, 0x80, 0x80]),
    random.bytes(3),
    Buffer.alloc(1),
  ]);
  return Buffer.concat([bytes.subarray(0, at), odd, bytes.subarray(at)]);
}
