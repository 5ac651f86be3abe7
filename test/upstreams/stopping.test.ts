import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../crash/gateway-process.ts';
import { startHeldServer } from './held-server.ts';

/** Far less than the gateway waits for a peer that connects. */
const PATIENCE_MS = 10_000;

test.each(['initialize', 'tools/list'])(
  'a gateway that is stopped while an upstream owes it the answer to %s ends at once',
  async (method) => {
    const upstream = await startHeldServer();
    onTestFinished(() => upstream.close());
    const folder = mkdtempSync(join(tmpdir(), 'longcall-stopping-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [config, data] = [join(folder, 'longcall.yaml'), join(folder, 'data')];
    writeFileSync(config, JSON.stringify({ upstreams: { held: { url: upstream.url } } }));
    // The second start serves what the first one has learnt, and does not wait for the upstream.
    await (await startGateway({ config, data })).stop();
    upstream.hold(method);
    const gateway = await startGateway({ config, data });
    await upstream.holding;
    const began = performance.now();
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(PATIENCE_MS);
  },
);
