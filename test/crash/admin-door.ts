import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  OperationDocument,
  Page,
  TaskDetail,
  TaskDocument,
} from '../../src/admin/documents.ts';
import type { StatusDocument, UpstreamDocument } from '../../src/admin/overview-routes.ts';

/** What an operator sees of the gateway that runs on a data directory. */
export interface AdminDoor {
  readonly url: string;
  readonly token: string;
  tasks(): Promise<readonly TaskDocument[]>;
  task(id: string): Promise<TaskDetail>;
  operations(): Promise<readonly OperationDocument[]>;
  upstreams(): Promise<readonly UpstreamDocument[]>;
  cancel(id: string): Promise<void>;
}

/** Finds the admin endpoint in the data directory, as the commands do. */
export function openAdminDoor(data: string): AdminDoor {
  const { adminUrl } = JSON.parse(readFileSync(join(data, 'endpoint.json'), 'utf8')) as {
    adminUrl: string;
  };
  const token = readFileSync(join(data, 'admin-token'), 'utf8').trim();
  const authorization = `Bearer ${token}`;
  const request = async (path: string, init: RequestInit): Promise<unknown> => {
    const response = await fetch(new URL(`/admin/v1${path}`, adminUrl), init);
    if (!response.ok)
      throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const get = (path: string): Promise<unknown> => request(path, { headers: { authorization } });
  const all = async <T>(path: string): Promise<readonly T[]> => {
    const items: T[] = [];
    for (let cursor = ''; ;) {
      const page = (await get(`${path}?limit=100${cursor}`)) as Page<T>;
      items.push(...page.items);
      if (page.nextCursor === null) return items;
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
  };
  return {
    url: adminUrl,
    token,
    tasks: () => all('/tasks'),
    task: async (id) => (await get(`/tasks/${encodeURIComponent(id)}`)) as TaskDetail,
    operations: () => all('/operations'),
    async cancel(id) {
      const headers = { authorization, 'content-type': 'application/json' };
      await request(`/tasks/${encodeURIComponent(id)}/cancel`, {
        method: 'POST',
        headers,
        body: '{}',
      });
    },
    upstreams: async () => ((await get('/status')) as StatusDocument).upstreams,
  };
}
