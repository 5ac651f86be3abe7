import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createManualClock } from '../../src/kernel/manual-clock.ts';
import type { Outcome } from '../../src/protocol/model.ts';
import type { ArtifactPolicy } from '../../src/runtime/artifacts/keeper.ts';
import type { RunTool } from '../../src/runtime/job.ts';
import type { BlobStore } from '../../src/stores/artifacts.ts';
import { openFileBlobStore } from '../../src/stores/files/blob-store.ts';
import {
  ALICE,
  ANYONE,
  BOB,
  CAROL,
  createReceivingSide,
  payTool,
  readTool,
} from './receiving-side.ts';

const KIB = 1024;
const HOUR_MS = 3_600_000;
const POLICY: ArtifactPolicy = {
  bytesMax: 1024 * KIB,
  aboveBytes: 4 * KIB,
  perPrincipalBytes: 4096 * KIB,
  perTenantBytes: 4096 * KIB,
  totalBytes: 4096 * KIB,
  keepMs: 24 * HOUR_MS,
};
const large = { ...readTool, artifactAbove: 2 * KIB };
const pays = { ...payTool, artifactAbove: 2 * KIB };

const textResult = (length: number): Outcome => ({
  kind: 'result',
  result: { content: [{ type: 'text', text: 'x'.repeat(length) }] },
});
/** Answers as many letters as the call asks for. */
const answers: RunTool = async ({ request }) => ({
  outcome: textResult(Number(request.arguments['length'] ?? 10)),
  end: 'answered',
  reason: 'answered',
});

interface Options {
  readonly policy?: Partial<ArtifactPolicy>;
  readonly run?: RunTool;
  readonly wrapBlobs?: (blobs: BlobStore) => BlobStore;
}

async function given({ policy, run = answers, wrapBlobs }: Options = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'longcall-kept-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const real = await openFileBlobStore({ directory });
  const blobs = wrapBlobs?.(real) ?? real;
  const clock = createManualClock();
  const side = await createReceivingSide({
    run,
    clock,
    tools: [large, pays],
    limits: { outcomeBytesMax: 64 * KIB },
    artifacts: { blobs, policy: { ...POLICY, ...policy } },
  });
  await side.open();
  return { side, clock, blobs: real, files: () => readdirSync(directory) };
}

const blocksOf = (outcome: Outcome): readonly JsonObject[] =>
  (outcome.kind === 'result' ? outcome.result['content'] : []) as readonly JsonObject[];
const idOf = (outcome: Outcome): string =>
  String(blocksOf(outcome)[0]?.['uri']).replace('longcall://artifacts/', '');

describe('a large result', () => {
  test('is an artifact of its caller alone, and stays as long as its record', async () => {
    const { side, clock } = await given({ policy: { keepMs: 0 } });
    const task = await side.call({ arguments: { length: 100 * KIB } });
    const id = idOf(await side.outcome(task));
    const { receiver } = side.runtime;
    expect(await receiver.openArtifact(ALICE, id)).toMatchObject({
      artifact: { bytes: 100 * KIB },
    });
    for (const other of [BOB, CAROL, ANYONE])
      expect(await receiver.openArtifact(other, id)).toBeUndefined();
    const scopeless = { ...ALICE, scopes: ['task.read'] };
    expect(await receiver.openArtifact(scopeless, id)).toBeUndefined();
    const { ttlMs } = await side.row(task);
    clock.jump(ttlMs - 1);
    expect(await receiver.openArtifact(ALICE, id)).toBeDefined();
    clock.jump(1);
    expect(await receiver.openArtifact(ALICE, id)).toBeUndefined();
  });

  test('leaves nothing behind when it has expired: no row, no file [E4]', async () => {
    const { side, clock, files } = await given({ policy: { keepMs: 1 } });
    for (let call = 0; call < 5; call += 1)
      await side.outcome(await side.call({ arguments: { length: 10 * KIB } }));
    expect(files()).toHaveLength(5);
    clock.jump(30 * 24 * HOUR_MS);
    await side.runtime.sweep();
    expect(files()).toEqual([]);
    expect(await side.store.artifacts.usage()).toEqual({ count: 0, bytes: 0 });
  });

  test('without room stays where it was up to the hard limit, and beyond it says what stood in its way', async () => {
    const { side, files } = await given({ policy: { perPrincipalBytes: 40 * KIB } });
    const kept = await side.outcome(await side.call({ arguments: { length: 30 * KIB } }));
    expect(blocksOf(kept)).toMatchObject([{ type: 'resource_link' }, { type: 'text' }]);
    const inline = await side.outcome(await side.call({ arguments: { length: 30 * KIB } }));
    expect(inline).toEqual(textResult(30 * KIB));
    const dropped = await side.outcome(
      await side.call({ tool: pays, arguments: { length: 80 * KIB } }),
    );
    expect(dropped).toMatchObject({
      error: {
        message: expect.stringMatching(
          /no room for an artifact \(perPrincipalBytes\); it was dropped\. It may have taken effect/,
        ) as string,
        data: {
          reason: 'result_too_large',
          artifactLimit: 'perPrincipalBytes',
          operationId: expect.any(String) as string,
        },
      },
    });
    expect(files()).toHaveLength(1);
  });

  test('larger than any artifact may be is dropped, and a read is not said to have had an effect', async () => {
    const { side } = await given();
    const outcome = await side.outcome(await side.call({ arguments: { length: 2048 * KIB } }));
    expect(outcome).toMatchObject({
      error: { data: { reason: 'result_too_large', artifactLimit: 'bytesMax' } },
    });
    expect(JSON.stringify(outcome)).not.toContain('taken effect');
  });

  test('of a task that was cancelled meanwhile leaves no artifact', async () => {
    const cancelled = Promise.withResolvers<void>();
    const writing = Promise.withResolvers<void>();
    const { side, files } = await given({
      wrapBlobs: (blobs) => ({
        ...blobs,
        async put(id, content) {
          writing.resolve();
          await cancelled.promise;
          await blobs.put(id, content);
        },
      }),
    });
    const task = await side.call({ arguments: { length: 10 * KIB } });
    await writing.promise;
    await side.runtime.receiver.cancel(ALICE, task.id, 'at-once');
    cancelled.resolve();
    await expect.poll(() => side.engine.runningCount()).toBe(0);
    expect(await side.store.artifacts.usage()).toEqual({ count: 0, bytes: 0 });
    expect(files()).toEqual([]);
    expect(await side.row(task)).toMatchObject({ ending: 'cancelled' });
  });

  test('is not lost to a disk that fails for a moment', async () => {
    let failures = 2;
    const { side, clock } = await given({
      wrapBlobs: (blobs) => ({
        ...blobs,
        put: (id, content) => {
          failures -= 1;
          return failures >= 0 ? Promise.reject(new Error('ENOSPC')) : blobs.put(id, content);
        },
      }),
    });
    const task = await side.call({ arguments: { length: 10 * KIB } });
    const ended = side.outcome(task);
    await expect.poll(() => (clock.advance(5_000), failures)).toBeLessThan(0);
    expect(blocksOf(await ended)).toMatchObject([{ type: 'resource_link' }, { type: 'text' }]);
  });

  test('that is asked for again and again in little room is kept once', async () => {
    const { side, files } = await given();
    const task = await side.call({
      tool: { ...large, name: 'report' },
      arguments: { length: 1 * KIB },
    });
    await side.outcome(task);
    const { receiver } = side.runtime;
    const view = await receiver.view(ALICE, task.id, true);
    for (let look = 0; look < 3; look += 1) {
      const shown = await receiver.presentBounded(view ?? { task, inputs: [] }, 900);
      expect(JSON.stringify(shown.outcome)).not.toContain('x'.repeat(KIB));
    }
    expect(files()).toHaveLength(1);
  });
});

describe('a task that has ended', () => {
  test('shows the words of its end, or none, and never those of its progress [P5]', async () => {
    const shown = Promise.withResolvers<void>();
    const { side } = await given({
      run: async ({ status, request }) => {
        status('starting');
        await shown.promise;
        const isError = request.arguments['fails'] === true;
        const text = isError ? 'no such invoice' : 'done';
        return {
          outcome: { kind: 'result', result: { content: [{ type: 'text', text }], isError } },
          end: isError ? 'tool_error' : 'answered',
          reason: 'answered',
        };
      },
    });
    const [completes, fails] = [await side.call(), await side.call({ arguments: { fails: true } })];
    for (const task of [completes, fails])
      await expect.poll(async () => (await side.row(task)).message).toBe('starting');
    shown.resolve();
    for (const task of [completes, fails]) await side.outcome(task);
    expect(await side.row(completes)).toMatchObject({ ending: 'result' });
    expect((await side.row(completes)).message).toBeUndefined();
    expect(await side.row(fails)).toMatchObject({
      ending: 'tool_error',
      message: 'no such invoice',
    });
  });
});

describe('what a death or a hand has left', () => {
  test('content without a row and a row without content both go', async () => {
    const { side, blobs, files } = await given();
    const lost = idOf(await side.outcome(await side.call({ arguments: { length: 10 * KIB } })));
    const whole = idOf(await side.outcome(await side.call({ arguments: { length: 11 * KIB } })));
    const orphan = `art_${'o'.repeat(27)}`;
    await blobs.put(orphan, Buffer.from('left over'));
    await blobs.remove(lost);
    await side.runtime.recover();
    expect(files()).toEqual([whole]);
    expect(await side.store.artifacts.usage()).toMatchObject({ count: 1 });
    expect(await side.runtime.receiver.openArtifact(ALICE, whole)).toBeDefined();
  });

  test('content that is being written is no left-over', async () => {
    const written = Promise.withResolvers<void>();
    const healed = Promise.withResolvers<void>();
    const { side } = await given({
      wrapBlobs: (blobs) => ({
        ...blobs,
        async put(id, content) {
          await blobs.put(id, content);
          written.resolve();
          await healed.promise;
        },
      }),
    });
    const task = await side.call({ arguments: { length: 10 * KIB } });
    await written.promise;
    await side.runtime.recover();
    healed.resolve();
    const id = idOf(await side.outcome(task));
    expect(await side.runtime.receiver.openArtifact(ALICE, id)).toBeDefined();
  });
});
