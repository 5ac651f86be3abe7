import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { isJsonObject, stringAt, type JsonObject } from '../kernel/json.ts';
import type { Random } from '../kernel/random.ts';
import { readFrame, writeFrame } from './frames.ts';

/**
 * What front and engine say to each other before lines of MCP pass, one frame a line:
 *
 *     front   { link, version, nonce }
 *     engine  { link, version, nonce, proof }      proof over both nonces: it holds the secret of the data directory
 *     front   { proof, purpose, … }                so does the front; only now it says what it wants and brings
 *     engine  { ok: true, … } | { ok: false, code, message, … }
 *
 * The secret never travels. The first two frames keep their form in every version, so that any two can tell each other
 * which they are.
 */
export const LINK_VERSION = 1;

const NONCE_BYTES = 24;

/** What a front may want. */
export const PURPOSES = ['serve', 'status', 'stop'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** What one side knows before it speaks. */
export interface Credentials {
  /** Of the data directory; whoever can read it is its owner. */
  readonly secret: Uint8Array;
  /** The version of the package. */
  readonly version: string;
  readonly random: Random;
}

export interface Hello {
  readonly link: number;
  readonly version: string;
}

/** What a front asks for, once it has proved itself. */
export interface FrontRequest {
  readonly purpose: Purpose;
  readonly version: string;
  readonly body: JsonObject;
}

/** The other side is somebody else, or speaks otherwise. */
export class HandshakeRefused extends Error {
  override readonly name = 'HandshakeRefused';
  /** Whether the engine speaks another version of the link; it has proved nothing then. */
  readonly otherLink: Hello | undefined;

  constructor(problem: string, otherLink?: Hello) {
    super(problem);
    this.otherLink = otherLink;
  }
}

type Side = 'front' | 'engine';

interface Nonces {
  readonly front: string;
  readonly engine: string;
}

function proofOf(secret: Uint8Array, side: Side, nonces: Nonces): string {
  const said = ['longcall link', LINK_VERSION, side, nonces.front, nonces.engine].join('\n');
  return createHmac('sha256', secret).update(said).digest('base64url');
}

function isProof(text: string | undefined, wanted: string): boolean {
  const [given, right] = [Buffer.from(text ?? ''), Buffer.from(wanted)];
  return given.length === right.length && timingSafeEqual(given, right);
}

const nonceOf = (random: Random): string =>
  Buffer.from(random.bytes(NONCE_BYTES)).toString('base64url');

function helloIn(frame: JsonObject): (Hello & { readonly nonce: string }) | undefined {
  const { link } = frame;
  const [version, nonce] = [stringAt(frame, 'version'), stringAt(frame, 'nonce')];
  if (typeof link !== 'number' || version === undefined || nonce === undefined) return undefined;
  return nonce.length >= NONCE_BYTES ? { link, version, nonce } : undefined;
}

/** The front's side up to its request. Resolves with what the engine answers. */
export async function requestOf(
  engine: Duplex,
  { secret, version, random }: Credentials,
  request: { readonly purpose: Purpose; readonly body: JsonObject },
): Promise<{ readonly engine: Hello; readonly reply: JsonObject }> {
  const own = nonceOf(random);
  writeFrame(engine, { link: LINK_VERSION, version, nonce: own });
  const frame = await readFrame(engine);
  const hello = helloIn(frame);
  if (!hello) throw new HandshakeRefused('it is no engine of longcall');
  if (hello.link !== LINK_VERSION)
    throw new HandshakeRefused(`it speaks version ${hello.link} of the link`, hello);
  const nonces = { front: own, engine: hello.nonce };
  if (!isProof(stringAt(frame, 'proof'), proofOf(secret, 'engine', nonces)))
    throw new HandshakeRefused('it does not hold the secret of the data directory');
  const { purpose, body } = request;
  writeFrame(engine, { proof: proofOf(secret, 'front', nonces), purpose, body });
  const reply = await readFrame(engine);
  return { engine: hello, reply };
}

/** The engine's side up to the front's request; the answer is the caller's. */
export async function receiveRequest(
  front: Duplex,
  { secret, version, random }: Credentials,
): Promise<FrontRequest> {
  const hello = helloIn(await readFrame(front));
  if (!hello) throw new HandshakeRefused('it is no front of longcall');
  const nonces = { front: hello.nonce, engine: nonceOf(random) };
  const proof = proofOf(secret, 'engine', nonces);
  writeFrame(front, { link: LINK_VERSION, version, nonce: nonces.engine, proof });
  const frame = await readFrame(front);
  if (!isProof(stringAt(frame, 'proof'), proofOf(secret, 'front', nonces)))
    throw new HandshakeRefused('it does not hold the secret of the data directory');
  const purpose = PURPOSES.find((known) => known === frame['purpose']);
  const { body } = frame;
  if (purpose === undefined || !isJsonObject(body))
    throw new HandshakeRefused('it wants something unknown');
  return { purpose, version: hello.version, body };
}
