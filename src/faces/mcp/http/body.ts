import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too_large' }
  /** The sender went away, or its bytes are no UTF-8. */
  | { readonly kind: 'unreadable' };

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decode(chunks: readonly Buffer[]): Body {
  try {
    const [only, ...more] = chunks;
    const bytes = more.length === 0 ? only : Buffer.concat(chunks);
    return { kind: 'text', text: UTF8.decode(bytes) };
  } catch {
    return { kind: 'unreadable' };
  }
}

/** Reads a body up to a limit; no more than that is ever held. */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<Body> {
  const announced = Number(req.headers['content-length'] ?? 0);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = announced > maxBytes ? announced : 0;
    if (bytes > 0) resolve({ kind: 'too_large' });
    // What comes after the limit is read and dropped: a sender that is cut off would not read why.
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void chunks.push(chunk);
      chunks.length = 0;
      resolve({ kind: 'too_large' });
    });
    req.once('end', () => resolve(decode(chunks)));
    req.once('error', () => resolve({ kind: 'unreadable' }));
    req.once('close', () => resolve({ kind: 'unreadable' }));
  });
}
