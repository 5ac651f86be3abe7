/** `longcall/server`: durable tools for an MCP server of your own. */
export { createTasks } from './compose/tasks.ts';
export type {
  PageWord,
  RequestHandler,
  ServedToolStatus,
  StdioStreams,
  Tasks,
  TasksOptions,
  TasksStatus,
} from './library/tasks.ts';
export type { Identify, IdentifiedRequest, Identity } from './library/identities.ts';
export type { ArgumentSchema, ArgumentsOf, OutputOf, Schema } from './library/schemas.ts';
export type {
  ConnectableServer,
  FastMcpServer,
  SdkServer,
  ServerSource,
  ToolServer,
} from './library/servers.ts';
export type { Settings } from './library/settings.ts';
export type {
  Duration,
  Handler,
  HandlerAnswer,
  IdempotencyKey,
  ToolOptions,
  ToolResult,
  ToolRules,
} from './library/tool-options.ts';
export type {
  Confirmation,
  EffectSite,
  FormAnswer,
  FormQuestion,
  JobContext,
  JobPrincipal,
  SealedValue,
  StepSite,
  UrlAnswer,
  UrlQuestion,
} from './runtime/steps/context.ts';
export { ConfigInvalidError, type ConfigProblem } from './gateway/config/problems.ts';
export { LongcallError, type ErrorCode } from './kernel/errors.ts';
