import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server under measurement, in a process of its own. */
export interface Served {
  readonly url: string;
  /** From spawn to the line that says it listens. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Starts a program and waits for its `listening <url>` line. */
export async function serve(args: readonly string[]): Promise<Served> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /^listening (http\S+)/m.exec(output)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) =>
      reject(new Error(`${args.join(' ')} left with ${code}:\n${output}`)),
    );
  });
  const startMs = performance.now() - begun;
  return {
    url,
    startMs,
    async stop() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}
