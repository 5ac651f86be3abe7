import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Stands in for the built command line: shows its arguments and warns in several ways. */
const PLANTED_MAIN = `
export async function main(argv) {
  await import('node:sqlite');
  process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning');
  process.emitWarning('something else is new', 'ExperimentalWarning');
  process.emitWarning('SQLite is an experimental feature', { type: 'Other' });
  process.stdout.write(JSON.stringify(argv));
  return 7;
}
`;

let home = '';
let launcher = '';

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'longcall-launcher-'));
  launcher = join(home, 'bin/longcall.js');
  mkdirSync(join(home, 'bin'));
  mkdirSync(join(home, 'dist/cli'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
  writeFileSync(join(home, 'dist/cli/main.js'), PLANTED_MAIN);
  copyFileSync(join(ROOT, 'bin/longcall.js'), launcher);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Preloading this makes the running Node.js call itself another version; the launcher has no switch for it. */
function pretending(version: string): readonly string[] {
  const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`;
  const code = `Object.defineProperty(process, 'versions', { value: ${versions} })`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

function launch(node: string, flags: readonly string[] = []) {
  const args = [...flags, launcher, 'tasks', 'list'];
  return spawnSync(node, args, { encoding: 'utf8', timeout: 20_000 });
}

test('the launcher and package.json ask for the same Node.js', () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  expect(engines.node).toBe('>=22.13.0');
  expect(readFileSync(launcher, 'utf8')).toContain("NEEDED = '22.13.0'");
});

describe('on a Node.js that is too old', () => {
  test.each(['18.20.8', '20.20.2', '22.12.0', '22.5.1'])('%s is refused in one line', (version) => {
    const { status, stdout, stderr } = launch(process.execPath, pretending(version));
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('needs Node.js 22.13.0 or newer');
    expect(stderr).toContain(`this is ${version} `);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });

  const old = findOldNode();
  test.skipIf(old === undefined)(
    `a real one says so itself (${old ?? 'SKIPPED: no Node.js older than 22.13.0 on PATH'})`,
    () => {
      const { status, stderr } = launch(old ?? '');
      expect(status).toBe(2);
      expect(stderr).toMatch(/^longcall needs Node\.js 22\.13\.0 or newer; this is [^\n]+\n$/);
    },
  );
});

describe('on a Node.js that is new enough', () => {
  test.each(['22.13.0', '22.13.1', '22.20.0', '24.0.0', '100.1.0'])(
    '%s runs the command',
    (version) => {
      const { status, stdout } = launch(process.execPath, pretending(version));
      expect(status).toBe(7);
      expect(stdout).toBe('["tasks","list"]');
    },
  );

  test('only the warning about node:sqlite is dropped', () => {
    const { stderr } = launch(process.execPath);
    expect(stderr).not.toContain('ExperimentalWarning: SQLite');
    expect(stderr).toContain('ExperimentalWarning: something else is new');
    expect(stderr).toContain('Other: SQLite');
  });

  test('a package that is missing is not taken for a missing build', () => {
    writeFileSync(join(home, 'dist/cli/main.js'), "import 'not-installed-here';");
    const { status, stderr } = launch(process.execPath);
    expect(status).toBe(1);
    expect(stderr).toContain('stopped on an error of its own');
    expect(stderr).toContain("'not-installed-here'");
  });

  test('a checkout that was never built says what to run', () => {
    rmSync(join(home, 'dist'), { recursive: true });
    const { status, stderr } = launch(process.execPath);
    expect(status).toBe(1);
    expect(stderr).toBe('longcall is not built here; run `npm run build` first.\n');
  });
});

/** The first Node.js on PATH that is older than the floor. */
function findOldNode(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .map((folder) => join(folder, 'node'))
    .find((node) => {
      const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
      const [major = 0, minor = 0] = (stdout ?? '').slice(1).split('.').map(Number);
      return major > 0 && (major < 22 || (major === 22 && minor < 13));
    });
}
