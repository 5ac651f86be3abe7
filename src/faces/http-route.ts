import type { IncomingMessage, ServerResponse } from 'node:http';

/** A face beside MCP on the same listener, by path. */
export interface HttpRoute {
  /** `path`: of the URL, without its query. */
  matches(path: string): boolean;
  handler(req: IncomingMessage, res: ServerResponse): void;
  /** Answers what still waits and takes nothing new. */
  close(): Promise<void>;
}

export const pathOf = ({ url = '/' }: Pick<IncomingMessage, 'url'>): string =>
  url.split('?', 1)[0] ?? '/';
