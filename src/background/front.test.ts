import { once } from 'node:events';
import { Duplex, PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { runFront, type FrontOptions } from './front.ts';

/** An engine of a test: what the front wrote to it, and a way to say something. */
function createEngine() {
  const heard: string[] = [];
  const engine = new Duplex({
    allowHalfOpen: true,
    read: () => undefined,
    write(chunk: Buffer, _, done) {
      heard.push(chunk.toString());
      done();
    },
  });
  return { engine, heard: () => heard.join(''), say: (text: string) => void engine.push(text) };
}

function createFront(options: Partial<FrontOptions> & Pick<FrontOptions, 'engine'>) {
  const input = new PassThrough();
  const output = new PassThrough();
  const said: string[] = [];
  output.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const ended = runFront({
    input,
    output,
    answerLost: ({ id, method }) => `lost ${id} ${method}\n`,
    reconnect: () => Promise.resolve(undefined),
    ...options,
  });
  return { input, output, ended, said: () => said.join('') };
}

const request = (id: number | string, method = 'tools/call'): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method })}\n`;
const answer = (id: number | string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`;

async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a front', () => {
  test('passes lines both ways, and ends when the host has left and all was said', async () => {
    const { engine, heard, say } = createEngine();
    const front = createFront({ engine });
    front.input.write(request(1));
    await settle();
    expect(heard()).toBe(request(1));
    front.input.end();
    await once(engine, 'finish');
    say(answer(1));
    engine.push(null);
    expect(await front.ended).toEqual({ kind: 'host_left' });
    expect(front.said()).toBe(answer(1));
  });

  test('answers what an engine that dies still owed, and nothing else', async () => {
    const { engine, say } = createEngine();
    const front = createFront({ engine });
    front.input.write(request(1) + request('two') + request(3, 'ping') + request(4));
    front.input.write(
      `${JSON.stringify({ method: 'notifications/cancelled', params: { requestId: 4 } })}\n`,
    );
    await settle();
    say(answer(1));
    await settle();
    engine.destroy();
    expect(await front.ended).toEqual({ kind: 'engine_left', unanswered: 2 });
    expect(front.said()).toBe(`${answer(1)}lost "two" tools/call\nlost 3 ping\n`);
  });

  test('a line that the engine did not finish never reaches the host', async () => {
    const { engine, say } = createEngine();
    const front = createFront({ engine });
    front.input.write(request(1));
    await settle();
    say(answer(1).slice(0, 10));
    await settle();
    engine.destroy();
    await front.ended;
    expect(front.said()).toBe('lost 1 tools/call\n');
  });

  test('opens the same session with the next engine, unseen by the host, where nothing was owed', async () => {
    const [first, second] = [createEngine(), createEngine()];
    const front = createFront({
      engine: first.engine,
      reconnect: () => Promise.resolve(second.engine),
    });
    const initialized = `${JSON.stringify({ method: 'notifications/initialized' })}\n`;
    front.input.write(request(0, 'initialize'));
    await settle();
    first.say(answer(0));
    front.input.write(initialized + request(1));
    await settle();
    first.say(answer(1));
    await settle();
    first.engine.destroy();
    await settle();
    expect(second.heard()).toBe(request(0, 'initialize'));
    second.say(answer(0) + answer('never asked'));
    await settle();
    expect(second.heard()).toBe(request(0, 'initialize') + initialized);
    front.input.write(request(2));
    await settle();
    second.say(answer(2));
    await settle();
    expect(front.said()).toBe(answer(0) + answer(1) + answer('never asked') + answer(2));
    expect(second.heard()).toContain(request(2));
  });

  test.each(['resources/subscribe', 'logging/setLevel'])(
    'does not pretend that a session goes on which had more to it: %s',
    async (method) => {
      const { engine, say } = createEngine();
      const front = createFront({
        engine,
        reconnect: () => Promise.reject(new Error('asked for another engine')),
      });
      front.input.write(request(1, method));
      await settle();
      say(answer(1));
      await settle();
      engine.destroy();
      expect(await front.ended).toEqual({ kind: 'engine_left', unanswered: 0 });
    },
  );

  test('reads no more from the engine than the host takes', async () => {
    const { engine, say } = createEngine();
    let taken = 0;
    const output = new Writable({
      highWaterMark: 1024,
      write: (chunk: Buffer) => void (taken += chunk.length), // and never asks for more
    });
    void createFront({ engine, output });
    for (let lines = 0; lines < 100; lines += 1) {
      say(`${'x'.repeat(1023)}\n`);
      await settle();
    }
    expect(taken + output.writableLength).toBeLessThan(16 * 1024);
    expect(engine.readableLength).toBeGreaterThan(64 * 1024);
  });
});
