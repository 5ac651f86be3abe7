import type { Principal } from '../../identity/principal.ts';
import { objectAt, type JsonObject } from '../../kernel/json.ts';
import { usesJobTools } from '../../runtime/job-tools.ts';
import { taskSupportOf } from '../../runtime/modes.ts';
import type { CallerGeneration } from '../../runtime/surface.ts';
import type { ServedTool } from '../../runtime/tool.ts';
import { helperDefinitions } from '../job-tools/helper-definitions.ts';
import { withHandle } from '../job-tools/output-schema.ts';
import type { Face } from './face.ts';
import { invalidParams } from './failures.ts';

/** Who asks for the list. */
export interface Lister {
  readonly principal: Principal;
  readonly generation: CallerGeneration;
  /** Whether the caller declares the extension, so that its handles are tasks. */
  readonly tasks: boolean;
}

/** The output schema as this caller may rely on it: where a handle may come in the place of a result, it fits too. */
function listedOutput(definition: JsonObject, mayBeHandle: boolean): JsonObject {
  const { outputSchema: _, ...rest } = definition;
  const own = objectAt(definition, 'outputSchema');
  if (!mayBeHandle || !own) return definition;
  const union = withHandle(own);
  return union ? { ...rest, outputSchema: union } : rest;
}

/** A tool as a revision lists it: `execution` is 2025-11-25's own, and says how we serve the tool (G1-07, G2-07). */
function listed(face: Face, tool: ServedTool, { generation, tasks }: Lister): JsonObject {
  const { execution: _, ...definition } = tool.definition;
  const jobTools = usesJobTools(tool, face.jobTools);
  const named = { ...listedOutput(definition, jobTools && !tasks), name: tool.name };
  return generation === '2025-11-25'
    ? { ...named, execution: { taskSupport: taskSupportOf(tool.mode, jobTools) } }
    : named;
}

/** Callers with the extension have tasks; of 2025-11-25 nobody says whether its host knows them. */
function helpersFor(
  { jobTools }: Face,
  served: readonly ServedTool[],
  { principal, tasks }: Lister,
): readonly JsonObject[] {
  const isListed =
    jobTools === 'on' ||
    (jobTools === 'only-when-needed' && served.some((tool) => usesJobTools(tool, jobTools)));
  return isListed && !tasks ? helperDefinitions(principal) : [];
}

/** Every tool that can be called, on one page. */
export function listTools(face: Face, lister: Lister, params: JsonObject): JsonObject {
  if (params['cursor'] !== undefined)
    throw invalidParams('there is no such page; the list has one');
  const served = face.surface.tools().filter(({ mode }) => mode !== 'refuse');
  return {
    tools: [
      ...served.map((tool) => listed(face, tool, lister)),
      ...helpersFor(face, served, lister),
    ],
  };
}
