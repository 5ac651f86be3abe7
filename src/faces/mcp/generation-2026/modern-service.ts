import type { JsonObject } from '../../../kernel/json.ts';
import { TASKS_EXTENSION } from '../../../protocol/names.ts';
import { forward } from '../call/forward.ts';
import type { Face } from '../face.ts';
import { errorOfThrown, noSuchMethod } from '../failures.ts';
import { withOwnResources } from '../own-resources.ts';
import { errorReply, resultReply, type Reply } from '../reply.ts';
import { assertScope } from '../scopes.ts';
import { listTools } from '../tool-list.ts';
import { VERSION_2026 } from './envelope.ts';
import { createHeldForward } from './held-forward.ts';
import { siteOf, type ModernMethod, type ModernRequest } from './request.ts';
import { finishReply } from './results.ts';
import { createRounds, type Rounds } from './rounds.ts';
import { createTaskMethods } from './task-methods.ts';
import { createToolCall } from './tool-call.ts';

/** Serves single requests of 2026-07-28, whatever they come through; `subscriptions/listen` has its own door. */
export interface ModernService {
  /** The answer, complete; nothing where the request was stopped. */
  dispatch(request: ModernRequest): Promise<Reply | undefined>;
  close(): void;
}

/** Methods of earlier revisions and of the life cycle: gone, whatever an upstream has (G2-42, G2-95, G2-123). */
const GONE: readonly string[] = [
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
  'subscriptions/listen',
];

/** Only their answers may be questions (G2-61). */
const ROUND_METHODS: readonly string[] = ['resources/read', 'prompts/get'];

/** No `tasks` here: in this generation Tasks are an extension (G2-01, G2-177). */
function discover(face: Face): JsonObject {
  const { capabilities: all, extensions, instructions } = face.surface.info();
  const { tasks: _, ...upstream } = all;
  const capabilities = withOwnResources(upstream);
  return {
    supportedVersions: [VERSION_2026],
    capabilities: {
      tools: {},
      ...capabilities,
      extensions: { ...extensions, [TASKS_EXTENSION]: {} },
    },
    ...(instructions === undefined ? {} : { instructions }),
  };
}

const passOn =
  (face: Face, rounds: Rounds): ModernMethod =>
  async (request) => {
    const { method } = request;
    const site = siteOf(face, request);
    if (!ROUND_METHODS.includes(method)) return resultReply(await forward(site, method));
    const { requestState } = site.params;
    if (rounds.isOurs(requestState)) return rounds.resume(site, method, requestState);
    return rounds.run(site, method, createHeldForward(site, method));
  };

export function createModernService(face: Face): ModernService {
  const rounds = createRounds(face);
  const methods = new Map<string, ModernMethod>(Object.entries(createTaskMethods(face)));
  methods.set('server/discover', async () => resultReply(discover(face)));
  methods.set('tools/list', async ({ params, principal, envelope: { tasks } }) =>
    resultReply(listTools(face, { principal, generation: VERSION_2026, tasks }, params)),
  );
  methods.set('tools/call', createToolCall(face, rounds));
  const onward = passOn(face, rounds);
  const answer = async (request: ModernRequest): Promise<Reply | undefined> => {
    const { method, principal } = request;
    if (GONE.includes(method)) throw noSuchMethod(method);
    assertScope(principal, method);
    return (methods.get(method) ?? onward)(request);
  };
  return {
    async dispatch(request) {
      try {
        const reply = await answer(request);
        return reply && { ...reply, body: finishReply(face, request.method, reply.body) };
      } catch (error) {
        const { body } = errorReply(errorOfThrown(face, error));
        return { body: finishReply(face, request.method, body) };
      }
    },
    close: rounds.close,
  };
}
