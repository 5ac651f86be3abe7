/** A gateway in a process of its own, in front of the server file that is named second; it notes children in the first. */
import { createGateway } from '../../../src/gateway/gateway.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/kernel/logger.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { typescriptCommand } from '../../fixtures/upstreams/launch.ts';
import { createManifests, upstreamOptions } from '../gateway-kit.ts';

const [pidsFile = '', server = ''] = process.argv.slice(2);
const gateway = createGateway({
  manifests: createManifests(),
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  clientInfo: { name: 'mortal', version: '0.0.0' },
  pidsFile,
  upstreams: [upstreamOptions({ endpoint: { kind: 'stdio', ...typescriptCommand(server) } })],
});
await gateway.start();
process.stderr.write('listening on http://127.0.0.1:0/mcp\n');
