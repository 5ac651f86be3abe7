import type { Command } from 'commander';
import { versioned } from '../admin/documents.ts';
import { dataDirectoryOf } from './admin-endpoint.ts';
import type { AdminFlags } from './admin-endpoint.ts';
import { addAdminOptions, addOutputOptions } from './command-options.ts';
import type { AskFlags } from './command-options.ts';
import { freeAddressFindings, reachableFinding } from './doctor/addresses.ts';
import { examineConfig } from './doctor/configuration.ts';
import type { ExaminedConfig } from './doctor/configuration.ts';
import { directoryFinding, inspectionFindings, secretFindings } from './doctor/data-directory.ts';
import { engineFinding } from './doctor/engine-state.ts';
import { ok, skipped } from './doctor/finding.ts';
import type { Finding, FindingStatus } from './doctor/finding.ts';
import { askGateway, gatewayFinding, upstreamFindings } from './doctor/gateway-state.ts';
import { storeFinding } from './doctor/store-health.ts';
import type { GatewayState } from './doctor/gateway-state.ts';
import { clockFinding, nodeFinding } from './doctor/machine.ts';
import type { CliIo } from './io.ts';
import { createPrinter } from './output/printer.ts';
import type { Printer } from './output/printer.ts';
import type { Tone } from './output/style.ts';
import { oneLine } from './output/text-width.ts';

/** `longcall doctor`: everything that a gateway here stands on, whether one runs or not. */
export function registerDoctor(program: Command, io: CliIo): void {
  const command = program
    .command('doctor')
    .description(
      'check Node.js, configuration, data directory, store, listeners, upstreams and clock',
    );
  addAdminOptions(addOutputOptions(command)).action(async (_, own: Command) => {
    const flags = own.optsWithGlobals<AskFlags>();
    const findings = await examine(io, flags);
    const failures = findings.filter(({ status }) => status === 'fail').length;
    const printer = createPrinter(io, flags);
    const document = versioned({ ok: failures === 0, findings });
    printer.answer(document, () => printFindings(printer, findings));
    if (failures > 0) io.exit(1);
  });
}

async function examine(io: CliIo, flags: AdminFlags): Promise<readonly Finding[]> {
  const { config: named } = flags;
  const configured = examineConfig({
    cwd: io.cwd,
    env: io.env,
    flags: named === undefined ? {} : { config: named },
  });
  const data = flags.data === undefined ? configured.config?.data : dataDirectoryOf(flags, io);
  const gateway = await askGateway(io, flags, data);
  return [
    nodeFinding(process.versions.node),
    configured.finding,
    ...dataFindings(data, configured),
    gatewayFinding(gateway),
    await engineFinding(data, io),
    ...(await heldFindings(gateway, data)),
    ...(await addressFindings(gateway, configured)),
    ...upstreamFindings(gateway),
    clockFinding({ now: io.clock.now(), gatewayNow: gatewayNow(gateway), data }),
  ];
}

const gatewayNow = (gateway: GatewayState): number | undefined =>
  gateway.kind === 'running' ? Date.parse(gateway.status.now) : undefined;

function dataFindings(data: string | undefined, { config }: ExaminedConfig): readonly Finding[] {
  if (data === undefined) return [skipped('data.directory', 'the configuration names none')];
  return [directoryFinding(data), ...secretFindings(data, config?.identity.tokens)];
}

/** The gateway looks at its own store; without one that answers the files are looked at, and not changed. */
async function heldFindings(
  gateway: GatewayState,
  data: string | undefined,
): Promise<readonly Finding[]> {
  if (gateway.kind === 'running') {
    const { pid, store } = gateway.status;
    return [ok('data.lock', `held by the gateway, process ${pid}`), storeFinding(store)];
  }
  if (data === undefined) return [skipped('store', 'the configuration names no data directory')];
  const { inspectData } = await import('../compose/inspect-data.ts');
  return inspectionFindings(data, inspectData);
}

async function addressFindings(
  gateway: GatewayState,
  { config }: ExaminedConfig,
): Promise<readonly Finding[]> {
  if (gateway.kind === 'running') {
    const { mcpUrl } = gateway.status;
    return mcpUrl === null ? [] : [await reachableFinding(mcpUrl)];
  }
  if (gateway.kind === 'silent' || config === undefined)
    return [skipped('listen', 'not tried beside a gateway that does not answer')];
  return freeAddressFindings(config.listen);
}

const TONES = {
  ok: 'good',
  warn: 'doubt',
  fail: 'bad',
  skipped: 'quiet',
} as const satisfies Record<FindingStatus, Tone>;

function printFindings(printer: Printer, findings: readonly Finding[]): void {
  const { style } = printer;
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, status, detail, hint } of findings) {
    const tone = TONES[status];
    const head = style.paint(tone, `${style.sign(tone)} ${status.padEnd(7)}`);
    printer.line(`${head}  ${check.padEnd(width)}  ${oneLine(detail)}`);
    if (hint !== undefined) printer.line(`${' '.repeat(width + 13)}${oneLine(hint)}`);
  }
  const count = (status: FindingStatus, one: string, many: string): string => {
    const found = findings.filter((finding) => finding.status === status).length;
    return `${found} ${found === 1 ? one : many}`;
  };
  const counts = [count('fail', 'error', 'errors'), count('warn', 'warning', 'warnings')];
  printer.note([...counts, count('skipped', 'not looked at', 'not looked at')].join(', '));
}
