/**
 * Runs the suites on exactly the oldest Node.js that package.json allows. That version is installed once, from
 * npm, into a folder below the system's temporary directory. Arguments go on to vitest.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function floorVersion(): string {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  return engines.node.replace('>=', '');
}

/** The path of a Node.js of exactly that version. */
function installNode(version: string): string {
  const home = join(tmpdir(), `longcall-node-${version}`);
  const node = join(home, 'node_modules/node/bin/node');
  if (versionOf(node) === version) return node;
  const manifest = { private: true, dependencies: { node: version }, allowScripts: { node: true } };
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock'];
  const installed = spawnSync('npm', ['install', ...quiet], { cwd: home, stdio: 'inherit' });
  if (installed.status !== 0 || versionOf(node) !== version) {
    throw new Error(`Node.js ${version} could not be installed below ${home}`);
  }
  return node;
}

/** Undefined when there is no such program. */
function versionOf(node: string): string | undefined {
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return stdout?.trim().slice(1);
}

function runSuites(node: string): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const path = [dirname(node), process.env['PATH']].join(delimiter);
  process.stdout.write(`running the suites on Node.js ${versionOf(node)}\n`);
  const { status } = spawnSync(node, [vitest, 'run', ...process.argv.slice(2)], {
    cwd: ROOT,
    env: { ...process.env, PATH: path },
    stdio: 'inherit',
  });
  return status ?? 1;
}

process.exitCode = runSuites(installNode(floorVersion()));
