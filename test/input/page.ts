import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { auth } from '../faces/wire.ts';

/** What the visitor does on the page. */
export type Deed = 'confirm' | 'decline' | 'cancel';

/** A page of somebody else's web site: it knows its own visitors, and tells longcall what they did. */
export interface Page {
  /** The address to send somebody to with that confirmation. */
  linkFor(confirmation: string): string;
  /** Somebody, logged in to the site, follows the link and does this there; the status that longcall answered. */
  visit(link: string, visit: { readonly as: string; readonly does: Deed }): Promise<number>;
  /** What longcall answered the page, oldest first. */
  readonly answers: readonly { readonly status: number; readonly body: JsonObject }[];
}

export interface PageOptions {
  /** Where confirmations go. */
  readonly callbackUrl: () => string;
  /** What the page has to hand over. */
  readonly content?: JsonObject;
}

/** Serves the page on a port of its own. Its site's users have the same tokens as longcall's. */
export async function openPage({ callbackUrl, content }: PageOptions): Promise<Page> {
  const answers: { status: number; body: JsonObject }[] = [];
  const confirm = async (token: string, visitor: string, action: Deed): Promise<number> => {
    const response = await fetch(callbackUrl(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...auth(visitor) },
      body: JSON.stringify({
        token,
        action,
        ...(content && action === 'confirm' ? { content } : {}),
      }),
    });
    answers.push({ status: response.status, body: (await response.json()) as JsonObject });
    return response.status;
  };
  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { searchParams } = new URL(req.url ?? '', 'http://page.example');
    const visitor = String(req.headers['x-visitor']);
    const status = await confirm(
      searchParams.get('confirm') ?? '',
      visitor,
      searchParams.get('does') as Deed,
    );
    res.end(JSON.stringify({ status }));
  };
  const server = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve(undefined))));
  const { port } = server.address() as AddressInfo;
  return {
    answers,
    linkFor: (confirmation) => `http://127.0.0.1:${port}/connect?confirm=${confirmation}`,
    async visit(link, { as: visitor, does }) {
      const response = await fetch(`${link}&does=${does}`, { headers: { 'x-visitor': visitor } });
      return ((await response.json()) as { status: number }).status;
    },
  };
}
