/** `longcall/gateway`: start a gateway from a program of your own, with the configuration of the command line. */
export { createGatewayApp, type AppOverrides, type GatewayApp } from './compose.ts';
export {
  loadConfig,
  validateConfig,
  type ConfigFlags,
  type LoadConfigOptions,
  type LoadedConfig,
  type ValidatedConfig,
} from './gateway/config/load.ts';
export type { GatewayConfig, UpstreamConfig } from './gateway/config/config.ts';
export type { ConfigOrigin } from './gateway/config/layers.ts';
export {
  ConfigInvalidError,
  formatProblem,
  type ConfigProblem,
} from './gateway/config/problems.ts';
