import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Reach } from './place.ts';
import { ANSWER } from './real-client.ts';
import type { Era } from './real-client.ts';

const MODES = {
  '2025-11-25': 'legacy',
  '2026-07-28': { pin: '2026-07-28' },
} as const satisfies Record<Era, unknown>;

/** A client of SDK v2 that is connected, with the transport that it speaks over. */
export interface Connection {
  readonly client: Client;
  readonly transport: Transport;
}

export interface ConnectOptions {
  readonly name: string;
  readonly era: Era;
}

function transportTo(reach: Reach): Transport {
  if (reach.kind === 'stdio')
    return new StdioClientTransport({ ...reach, args: [...reach.args], stderr: 'ignore' });
  const headers = { authorization: `Bearer ${reach.token}` };
  return new StreamableHTTPClientTransport(new URL(reach.url), { requestInit: { headers } });
}

/** What a person would do with every form. */
export const accepted = () => ({ action: 'accept' as const, content: { answer: ANSWER } });

/** Connects a client that takes forms; who answers them is the caller's to say. */
export async function connectSdkV2(
  reach: Reach,
  { name, era }: ConnectOptions,
): Promise<Connection> {
  const client = new Client(
    { name, version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: MODES[era] },
    },
  );
  const transport = transportTo(reach);
  await client.connect(transport);
  return { client, transport };
}
