import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { longcall } from './terminal.ts';
import type { TerminalOptions } from './terminal.ts';

const YAML = `data: ./kept
listen:
  admin: 127.0.0.1:9999
upstreams:
  reports:
    command: [node, server.js]
    env: { API_KEY: "\${REPORTS_KEY}", OTHER: canary-secret }
`;

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'longcall-config-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
const run = (args: readonly string[], options: TerminalOptions = {}) =>
  longcall(args, { cwd, ...options, env: { HOME: cwd, REPORTS_KEY: 'k', ...options.env } });

describe('config show', () => {
  test('prints every value, with --origin where it comes from', async () => {
    write('longcall.yaml', YAML);
    const plain = await run(['config', 'show']);
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(/^KEY +VALUE\n/);
    expect(plain.stdout).toMatch(/listen\.admin +127\.0\.0\.1:9999\n/);
    const { stdout } = await run(['config', 'show', '--origin'], {
      env: { LONGCALL_LOG_LEVEL: 'debug' },
    });
    expect(stdout).toMatch(/listen\.admin +127\.0\.0\.1:9999 +longcall\.yaml:3:10\n/);
    expect(stdout).toMatch(/log\.level +debug +env LONGCALL_LOG_LEVEL\n/);
    expect(stdout).toMatch(/listen\.mcp +127\.0\.0\.1:8787 +default\n/);
  });

  test('never prints what may be a secret', async () => {
    write('longcall.yaml', YAML);
    for (const args of [
      ['config', 'show', '--origin'],
      ['config', 'show', '--json'],
    ]) {
      const { stdout } = await run(args, { env: { REPORTS_KEY: 'canary-key' } });
      expect(stdout).not.toContain('canary');
      expect(stdout).toContain('[hidden]');
    }
  });

  test('answers one document with --json', async () => {
    write('longcall.yaml', YAML);
    const document = JSON.parse((await run(['config', 'show', '--json', '--origin'])).stdout) as {
      values: unknown[];
    };
    expect(document).toMatchObject({ schemaVersion: 1, file: join(cwd, 'longcall.yaml') });
    expect(document.values).toContainEqual({
      path: 'listen.admin',
      value: '127.0.0.1:9999',
      origin: 'longcall.yaml:3:10',
    });
  });

  test('of a configuration with errors exits 2 and names them all', async () => {
    write('longcall.yaml', 'datta: x\nlog: { level: loud }\n');
    const { code, stderr } = await run(['config', 'show']);
    expect(code).toBe(2);
    expect(stderr).toContain('longcall.yaml:1:1');
    expect(stderr).toContain('longcall.yaml:2');
  });
});

describe('config validate', () => {
  test('of a sound file exits 0', async () => {
    write('longcall.yaml', YAML);
    const { code, stdout } = await run(['config', 'validate']);
    expect(code).toBe(0);
    expect(stdout).toBe(`${join(cwd, 'longcall.yaml')}: valid\n`);
  });

  test('names each error with its line, on stdout, and exits 2', async () => {
    write('other.yaml', 'datta: x\nupstreams: { a: { command: [x] } }\nlog: { level: loud }\n');
    const { code, stdout, stderr } = await run(['config', 'validate', 'other.yaml']);
    expect(code).toBe(2);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^other\.yaml:1:1: datta: unknown key/);
    expect(lines[1]).toMatch(/^other\.yaml:3:15: log\.level: must be one of/);
    expect(stderr).toContain('2 errors');
  });

  test('answers one document with --json, sound or not', async () => {
    write('longcall.yaml', 'datta: x\nupstreams: { a: { command: [x] } }\n');
    const bad = await run(['config', 'validate', '--json']);
    expect(bad.code).toBe(2);
    expect(JSON.parse(bad.stdout)).toMatchObject({
      schemaVersion: 1,
      valid: false,
      problems: [{ path: 'datta', line: 1, column: 1 }],
    });
    write('longcall.yaml', YAML);
    expect(JSON.parse((await run(['config', 'validate', '--json'])).stdout)).toMatchObject({
      valid: true,
      problems: [],
    });
  });

  test('of a file that is not there exits 2', async () => {
    const { code, stderr } = await run(['config', 'validate', 'none.yaml']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'LONGCALL_CONFIG_NOT_FOUND' } });
  });
});
