/**
 * The effects fixture over stdio, as a process that dies by SIGKILL as soon as its answer to a tool call has been
 * written: the answer is out, and nobody is there any more.
 */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createEffectsServer } from '../fixtures/upstreams/effects/server.ts';

/** A tool result, and no other answer. Writes to a pipe are done when `write` returns. */
const isToolResult = (message: JSONRPCMessage): boolean =>
  'result' in message && Array.isArray((message.result as { content?: unknown }).content);

const transport = new StdioServerTransport();
const send = transport.send.bind(transport);
transport.send = async (message) => {
  await send(message);
  if (isToolResult(message)) process.kill(process.pid, 'SIGKILL');
};
await createEffectsServer().connect(transport);
