import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LongcallError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';

const PACKAGE = '@modelcontextprotocol/server-everything';

/**
 * The server that is served when nobody named one: the protocol's own demonstration server, which a checkout of this
 * repository has among its development dependencies. Nothing in an installed package, which has not. Its version is
 * pinned by us and its annotations were read, so they are believed: its slow tool can show what a `read` survives.
 */
export function defaultUpstreams(): JsonObject | undefined {
  const folder = packageFolder();
  if (folder === undefined) return undefined;
  const command = [process.execPath, join(folder, 'dist', 'index.js'), 'stdio'];
  return { everything: { command, trustAnnotations: true } };
}

/** Nobody named an upstream and there is none to show. */
export const noUpstreamNamed = (): LongcallError =>
  new LongcallError(
    'LONGCALL_USAGE',
    'no upstream is named: which MCP server shall longcall stand in front of?',
    {
      hint: 'add --upstream "npx -y @modelcontextprotocol/server-everything" or --upstream https://host/mcp, or write longcall.yaml',
    },
  );

function packageFolder(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  } catch {
    return undefined;
  }
}
