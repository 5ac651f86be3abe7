import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createFace2025 } from '../fixtures/task-server/face-2025.ts';
import { createFace2026 } from '../fixtures/task-server/face-2026.ts';
import { createHttpServer } from '../fixtures/task-server/http.ts';
import { createTaskTable } from '../fixtures/task-server/task-table.ts';

export interface Reference {
  readonly url: string;
  stop(): Promise<void>;
}

/** How many tasks the reference shows per page of `tasks/list`. */
export const REFERENCE_PAGE_SIZE = 5;

/**
 * Starts a small server that is correct in both generations, written without any SDK: what the checks of this folder are
 * tried on before they judge the gateway. `tokens` says whose each bearer token is.
 */
export async function startReference(tokens: Readonly<Record<string, string>>): Promise<Reference> {
  const table = createTaskTable();
  const http = createHttpServer({
    face2026: createFace2026(table),
    face2025: createFace2025(table, REFERENCE_PAGE_SIZE),
    tokens,
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
