import { readFileSync } from 'node:fs';
import { isJsonObject, stringAt } from '../kernel/json.ts';

/** Who we are to peers, in logs and for `--version`. */
export interface Product {
  readonly name: string;
  readonly version: string;
}

function read(): Product {
  const parsed: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const manifest = isJsonObject(parsed) ? parsed : undefined;
  return { name: stringAt(manifest, 'name') ?? '', version: stringAt(manifest, 'version') ?? '' };
}

export const PRODUCT: Product = read();
