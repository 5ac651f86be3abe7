import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTask, reaches2025, resultOf, textOf } from '../wire/steps.ts';
import { createArtifactSite } from './site.ts';

const site = createArtifactSite({
  redact: { patterns: { 'staff-number': String.raw`\bEMP-\d{6}\b` } },
});
beforeAll(() => site.start());
afterAll(() => site.remove());

async function metricsOf(): Promise<string> {
  const data = join(site.folder, 'data');
  const { adminUrl } = JSON.parse(readFileSync(join(data, 'endpoint.json'), 'utf8')) as {
    adminUrl: string;
  };
  const token = readFileSync(join(data, 'admin-token'), 'utf8').trim();
  const response = await fetch(new URL('/metrics', adminUrl), {
    headers: { authorization: `Bearer ${token}` },
  });
  return response.text();
}

test('what a tool says of its failure is masked in the status, by built-in and configured rules, and not in the result', async () => {
  const session = await site.session('alice');
  const said = 'EMP-123456 was refused: password=hunter2, card 4111 1111 1111 1111\u202e\u001b[31m';
  const { taskId } = await createTask(session, 'fail_with', { args: { said } });
  const failed = await reaches2025(session, taskId, 'failed');
  expect(failed['statusMessage']).toBe(
    '[redacted] was refused: password=[redacted], card [redacted]',
  );
  const result = resultOf(await session.request('tasks/result', { taskId }), 'tasks/result');
  expect(textOf(result)).toBe(said);
  const metrics = await metricsOf();
  for (const rule of ['staff-number', 'named-value', 'card-number'])
    expect(metrics).toMatch(
      new RegExp(`^longcall_redaction_applied_total\\{rule="${rule}"\\} [1-9]`, 'm'),
    );
  expect(metrics).toMatch(/^longcall_artifacts 0$/m);
  expect(metrics).toMatch(/^longcall_artifact_bytes 0$/m);
});
