/**
 * Servers as far as this package has to know them, by their shape: an author brings the SDK, so no type of it is named
 * here. `never` stands for parameters that only the SDK itself can name.
 */

/** Anything that serves one transport at a time: servers of the MCP SDK 1.x and 2.x, FastMCP. */
export interface ConnectableServer {
  connect(transport: never): Promise<unknown>;
}

/** An `McpServer` of the MCP SDK, 1.x or 2.x. */
export interface SdkServer extends ConnectableServer {
  registerTool(name: string, config: never, callback: never): unknown;
}

/** A `FastMCP` server (the npm package `fastmcp`). It makes a session of its own for each connection. */
export interface FastMcpServer extends ConnectableServer {
  addTool(tool: never): unknown;
}

/** A server that tools can be added to. */
export type ToolServer = SdkServer | FastMcpServer;

/**
 * Where the server comes from. A factory is called for each connection and gives a new server each time, as
 * `createMcpHandler` of the SDK wants it. A single server of the SDK has one connection, which all callers share.
 */
export type ServerSource =
  ConnectableServer | (() => ConnectableServer | Promise<ConnectableServer>);

export const isFastMcp = (server: ConnectableServer): server is FastMcpServer =>
  'addTool' in server && typeof server.addTool === 'function' && !isSdkServer(server);

export const isSdkServer = (server: ConnectableServer): server is SdkServer =>
  'registerTool' in server && typeof server.registerTool === 'function';

export const isConnectable = (value: unknown): value is ConnectableServer =>
  typeof value === 'object' &&
  value !== null &&
  'connect' in value &&
  typeof value.connect === 'function';
