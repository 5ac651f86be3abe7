import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivateFile } from '../identity/private-file.ts';

/** Tells commands on this machine where the gateway of a data directory is. */
export const ENDPOINT_FILE = 'endpoint.json';

export interface Endpoint {
  readonly adminUrl: string;
  /** Absent over stdio. */
  readonly mcpUrl?: string;
  readonly pid: number;
}

/** Written when both addresses are taken; the answer removes it again. */
export function writeEndpointFile(directory: string, endpoint: Endpoint): () => void {
  const path = join(directory, ENDPOINT_FILE);
  writePrivateFile(path, `${JSON.stringify(endpoint)}\n`);
  return () => rmSync(path, { force: true });
}
