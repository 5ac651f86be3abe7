import { LongcallError } from '../kernel/errors.ts';
import { isJsonObject, type JsonObject } from '../kernel/json.ts';
import { resultOf } from './answers.ts';
import { journalledRun } from './current-run.ts';
import type { ArgumentSchema } from './schemas.ts';
import { isFastMcp, isSdkServer, type ToolServer } from './servers.ts';
import type { AnyHandler, ToolOptions } from './tool-options.ts';

/** A tool to be put on a server. */
export interface NewTool {
  readonly name: string;
  readonly options: ToolOptions<ArgumentSchema | undefined>;
  readonly handler: AnyHandler;
}

/** What the SDK calls: it has validated the arguments, and will validate the result. */
const callbackOf =
  ({ name, handler }: NewTool) =>
  (args: unknown): Promise<JsonObject> => {
    const { context, play } = journalledRun(name);
    return play(async () => resultOf(await handler(isJsonObject(args) ? args : {}, context), name));
  };

/** Registers the tool the way the server's own kind does it. What is wrong with its definition, the SDK says itself. */
export function registerOn(server: ToolServer, tool: NewTool): void {
  if (isSdkServer(server)) return registerOnSdk(server, tool);
  if (isFastMcp(server)) return registerOnFastMcp(server, tool);
  throw new LongcallError(
    'LONGCALL_LIBRARY_USAGE',
    `cannot add "${tool.name}": this is no McpServer of the MCP SDK (1.x, 2.x) and no FastMCP server`,
  );
}

const present = (members: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

function registerOnSdk(
  server: Extract<ToolServer, { registerTool: unknown }>,
  tool: NewTool,
): void {
  const { title, description, inputSchema, outputSchema, annotations, icons, _meta } = tool.options;
  const listed = { title, description, inputSchema, outputSchema, annotations, icons, _meta };
  const call = callbackOf(tool);
  // Without a schema the SDK calls with its own context alone.
  const callback = inputSchema === undefined ? () => call({}) : call;
  server.registerTool(tool.name, present(listed) as never, callback as never);
}

function registerOnFastMcp(server: Extract<ToolServer, { addTool: unknown }>, tool: NewTool): void {
  const { name } = tool;
  const { title, description, inputSchema, outputSchema, annotations, _meta } = tool.options;
  for (const schema of [inputSchema, outputSchema])
    if (schema !== undefined && !('~standard' in schema))
      throw new LongcallError(
        'LONGCALL_LIBRARY_USAGE',
        `cannot add "${name}": FastMCP takes one schema for all arguments, for example z.object({ … })`,
      );
  const listed = {
    name,
    description,
    parameters: inputSchema,
    outputSchema,
    annotations: title === undefined ? annotations : { title, ...annotations },
    _meta,
    execute: callbackOf(tool),
  };
  server.addTool(present(listed) as never);
}
