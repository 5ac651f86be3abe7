import type { StdioSide } from './face-kit.ts';

interface Handlers {
  onmessage?: (message: never, extra?: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
}

/** A client's end of a stdio face in this process: fits the transports of SDK v1 and v2. */
export interface PipeTransport extends Handlers {
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
}

export function createPipeTransport({ input, output }: StdioSide): PipeTransport {
  let rest = '';
  const transport: PipeTransport = {
    async start() {
      output.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as never);
      });
    },
    async send(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
}
