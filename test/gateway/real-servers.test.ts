import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { realpathSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { UpstreamOptions } from '../../src/gateway/options.ts';
import { forward, startGateway, stdioEndpoint, tempFolder, textOf, until } from './gateway-kit.ts';
import { accept, EVERY_ASK, run } from './test-job.ts';

/** The form in which server-everything asks what was meant. */
interface ClarificationSchema {
  readonly properties: {
    readonly interpretation: { readonly oneOf: readonly { readonly const: string }[] };
  };
}

function published(name: string, ...args: string[]): UpstreamOptions['endpoint'] {
  const folder = dirname(
    createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`),
  );
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [join(folder, 'dist/index.js'), ...args],
  };
}

test('server-everything: its own tasks, with a question in the middle', async () => {
  const gateway = await startGateway({ upstreams: [{ endpoint: published('server-everything') }] });
  await until(() => expect(gateway.surface.tool('simulate-research-query')).toBeDefined());
  expect(gateway.manifests()[0]).toMatchObject({ ownTasks: '2025-11-25', version: '2.0.0' });
  const call = run(gateway, {
    tool: 'simulate-research-query',
    arguments: { topic: 'python', ambiguous: true },
    asks: ['elicitation-form'],
  });
  await until(() => expect(call.questions).toHaveLength(1));
  const schema = call.questions[0]?.params['requestedSchema'] as ClarificationSchema | undefined;
  const choice = schema?.properties.interpretation.oneOf[0];
  call.questions[0]?.answer(accept({ interpretation: choice?.const ?? '' }));
  const { outcome } = await call.end;
  expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toContain(choice?.const);
  expect(call.statuses).toContain('Gathering sources...');
});

test('server-everything: progress, elicitation, sampling and roots', async () => {
  const gateway = await startGateway({ upstreams: [{ endpoint: published('server-everything') }] });
  await until(() => expect(gateway.surface.tool('trigger-elicitation-request')).toBeDefined());
  const long = run(gateway, {
    tool: 'trigger-long-running-operation',
    arguments: { duration: 0.5, steps: 2 },
  });
  expect(await long.end).toMatchObject({ end: 'answered' });
  expect(long.progress).toHaveLength(2);
  const elicits = run(gateway, { tool: 'trigger-elicitation-request', asks: EVERY_ASK });
  await until(() => expect(elicits.questions).toHaveLength(1));
  elicits.questions[0]?.answer({ kind: 'result', result: { action: 'decline' } });
  expect(JSON.stringify(await elicits.end)).toContain('declined');
  const samples = run(gateway, {
    tool: 'trigger-sampling-request',
    arguments: { prompt: 'x' },
    asks: EVERY_ASK,
  });
  await until(() => expect(samples.questions).toHaveLength(1));
  const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'said so' } };
  samples.questions[0]?.answer({ kind: 'result', result: answer });
  expect(JSON.stringify(await samples.end)).toContain('said so');
});

test('server-filesystem and server-memory side by side', async () => {
  const folder = realpathSync(tempFolder());
  writeFileSync(join(folder, 'note.txt'), 'from the disk');
  const memory = published('server-memory');
  const gateway = await startGateway({
    upstreams: [
      { name: 'files', prefix: 'files_', endpoint: published('server-filesystem', folder) },
      {
        name: 'memory',
        prefix: 'memory_',
        endpoint: {
          ...memory,
          env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
        } as UpstreamOptions['endpoint'],
      },
    ],
  });
  const read = await run(gateway, {
    tool: 'files_read_text_file',
    arguments: { path: join(folder, 'note.txt') },
  }).end;
  expect(JSON.stringify(read.outcome)).toContain('from the disk');
  const graph = await forward(gateway, [
    'tools/call',
    { name: 'memory_read_graph', arguments: {} },
  ]);
  expect(graph['structuredContent']).toMatchObject({ entities: [] });
});

test('a server made with fastmcp: progress and result', async () => {
  const gateway = await startGateway({ upstreams: [{ endpoint: stdioEndpoint('fastmcp') }] });
  const call = run(gateway, { tool: 'slow', arguments: { tag: 'f', ms: 300 } });
  const { outcome } = await call.end;
  expect(textOf(outcome.kind === 'result' ? outcome.result : {})).toBe('slow f is done');
  expect(call.progress.length).toBeGreaterThan(1);
});
