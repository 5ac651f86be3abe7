// A stub bank over real HTTP: it charges once for a key, and takes its time to answer.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const { DEEDS = 'deeds.log', ANSWER_MS = '0' } = process.env;
const charges = new Map<string, string>();

const web = createServer((request, response) => {
  const key = String(request.headers['idempotency-key'] ?? '');
  const answer = async (): Promise<void> => {
    if (!charges.has(key)) {
      charges.set(key, `rcp_${charges.size + 1}`);
      appendFileSync(DEEDS, `charged ${request.url}\n`); // the money is gone …
    }
    await delay(Number(ANSWER_MS)); // … and the answer takes its time
    response.end(JSON.stringify({ receipt: charges.get(key) }));
  };
  void answer();
}).listen(0, '127.0.0.1', () => {
  const { port } = web.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
