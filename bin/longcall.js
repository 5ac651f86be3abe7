#!/usr/bin/env node
// Imports nothing statically: a static import that an old Node.js cannot load would fail before this file
// could say what is wrong. For the same reason the syntax here is older than the rest of the package's.

const NEEDED = '22.13.0';

/** Whether a version of three numbers is at least another. */
function isAtLeast(version, needed) {
  const have = version.split('.').map(Number.parseFloat);
  const want = needed.split('.').map(Number.parseFloat);
  const differing = want.findIndex((number, place) => have[place] !== number);
  return differing === -1 || have[differing] > want[differing];
}

/**
 * On Node.js 22 `node:sqlite` warns that it is experimental, each time a process starts. What we use of it is
 * covered by our own suites on that version, so this one warning is dropped and no other.
 */
function dropSqliteWarning() {
  const emitWarning = process.emitWarning;
  process.emitWarning = function (warning, ...rest) {
    const type = typeof rest[0] === 'string' ? rest[0] : rest[0] && rest[0].type;
    if (type === 'ExperimentalWarning' && String(warning).startsWith('SQLite is an')) return;
    Reflect.apply(emitWarning, this, [warning, ...rest]);
  };
}

/** Runs the command line; its answer, when it is a number, is the exit code. */
async function start() {
  dropSqliteWarning();
  const { main } = await import('../dist/cli/main.js');
  const code = await main(process.argv.slice(2));
  if (typeof code === 'number') process.exitCode = code;
}

function explain(error) {
  const unbuilt = error && /^Cannot find module '[^']*dist.cli.main\.js'/.test(error.message);
  return unbuilt
    ? 'longcall is not built here; run `npm run build` first.'
    : `longcall stopped on an error of its own: ${(error && error.stack) || error}`;
}

if (isAtLeast(process.versions.node, NEEDED)) {
  start().catch((error) => {
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = 1;
  });
} else {
  process.stderr.write(
    `longcall needs Node.js ${NEEDED} or newer; this is ${process.versions.node} (${process.execPath}); in a checkout, \`npx longcall\` brings its own.\n`,
  );
  process.exitCode = 2;
}
