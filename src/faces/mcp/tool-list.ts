import type { JsonObject } from '../../kernel/json.ts';
import { taskSupportOf } from '../../runtime/modes.ts';
import type { CallerGeneration, Surface } from '../../runtime/surface.ts';
import type { ServedTool } from '../../runtime/tool.ts';
import { invalidParams } from './failures.ts';

/** A tool as a revision lists it: `execution` is 2025-11-25's own, and says how we serve the tool (G1-07, G2-07). */
function listed(tool: ServedTool, generation: CallerGeneration): JsonObject {
  const { execution: _, ...definition } = tool.definition;
  const named = { ...definition, name: tool.name };
  return generation === '2025-11-25'
    ? { ...named, execution: { taskSupport: taskSupportOf(tool.mode) } }
    : named;
}

/** Every tool that can be called, on one page. */
export function listTools(
  surface: Surface,
  generation: CallerGeneration,
  params: JsonObject,
): JsonObject {
  if (params['cursor'] !== undefined)
    throw invalidParams('there is no such page; the list has one');
  const served = surface.tools().filter(({ mode }) => mode !== 'refuse');
  return { tools: served.map((tool) => listed(tool, generation)) };
}
