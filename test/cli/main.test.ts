import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { openTerminal, type TerminalOptions } from './terminal.ts';

async function run(args: readonly string[], options: TerminalOptions = {}) {
  const { io, written } = openTerminal(options);
  const code = await main(args, io);
  return { code, ...written };
}

describe('longcall', () => {
  test('--version is that of the package', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('--help names every command on stdout', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const command of ['gateway', 'tasks', 'ops', 'doctor', 'config'])
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  });

  test('a command has a help of its own', async () => {
    const { code, stdout } = await run(['gateway', '--help']);
    expect(code).toBe(0);
    for (const flag of [
      '--config',
      '--upstream',
      '--listen',
      '--admin',
      '--data',
      '--stdio',
      '--i-accept-anonymous-network',
      '--json',
    ])
      expect(stdout).toContain(flag);
  });

  test('alone it shows what there is, as a mistake', async () => {
    const { code, stdout, stderr } = await run([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: longcall');
  });

  test('a mistake is one line of words on a terminal, with a guess', async () => {
    const { code, stderr } = await run(['gatewya'], { tty: true });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error LONGCALL_USAGE: unknown command 'gatewya' \(Did you mean gateway\?\) \(add --help [^\n]*\)\n$/,
    );
  });

  test('it is one line of JSON with --json or where no terminal is', async () => {
    for (const options of [{}, { tty: true }]) {
      const { code, stdout, stderr } = await run(['gateway', '--json', '--lisen', 'x'], options);
      expect([code, stdout]).toEqual([2, '']);
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: 'LONGCALL_USAGE', message: expect.stringContaining('--lisen') as string },
      });
    }
    expect(JSON.parse((await run(['gateway', 'extra'])).stderr)).toMatchObject({
      error: { code: 'LONGCALL_USAGE' },
    });
  });
});
