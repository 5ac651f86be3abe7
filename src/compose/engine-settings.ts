import type { GatewayConfig } from '../gateway/config/config.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../kernel/json.ts';

/** Sections of the configuration that hold for a whole data directory, whatever windows there are. */
const SECTIONS = ['identity', 'jobTools', 'limits', 'retention', 'log'] as const;

export type EngineSettings = Pick<GatewayConfig, (typeof SECTIONS)[number]>;

export const settingsBody = (config: EngineSettings): JsonObject => ({
  settings: Object.fromEntries(SECTIONS.map((section) => [section, config[section] as Json])),
});

/** Sections in which a window would have it otherwise than the engine was started with. */
export function differingSettings(own: EngineSettings, { settings }: JsonObject): string[] {
  if (!isJsonObject(settings)) return [];
  const textOf = (value: Json | undefined): string => canonicalJson(value ?? null, 'as-printed');
  return SECTIONS.filter((section) => textOf(own[section] as Json) !== textOf(settings[section]));
}
