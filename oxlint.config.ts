import { defineConfig } from 'oxlint';
import type { OxlintOverride } from 'oxlint';
import { CLOCK_FILES, WIRE_CHOOSER } from './test/boundaries/import-table.ts';
import { UNITS, filesOf, restrictedImports } from './test/boundaries/lint-rules.ts';

const TESTS = ['**/*.test.ts'];
const CLOCK = 'time comes from src/kernel/clock.ts, injected';
const RANDOM = 'randomness comes from src/kernel/random.ts, injected';

/** What one folder of src/ may import. A later override replaces an earlier one for the same file. */
const importTable: readonly OxlintOverride[] = UNITS.map((unit) => ({
  files: filesOf(unit),
  excludeFiles: [...TESTS, `src/${WIRE_CHOOSER}`],
  rules: { 'no-restricted-imports': ['error', restrictedImports(unit)] },
}));

const product: OxlintOverride = {
  files: ['src/**/*.ts'],
  excludeFiles: [...TESTS, '**/*.generated.ts'],
  rules: {
    'max-lines': ['error', { max: 400 }],
    'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    'no-console': 'error',
    'no-process-exit': 'error',
  },
};

const oneClock: OxlintOverride = {
  files: ['src/**/*.ts'],
  excludeFiles: [...TESTS, ...CLOCK_FILES.map((file) => `src/${file}`)],
  rules: {
    'no-restricted-globals': [
      'error',
      { name: 'setTimeout', message: CLOCK },
      { name: 'setInterval', message: CLOCK },
    ],
    'no-restricted-properties': [
      'error',
      { object: 'Date', property: 'now', message: CLOCK },
      { object: 'performance', property: 'now', message: CLOCK },
      { object: 'AbortSignal', property: 'timeout', message: CLOCK },
      { object: 'Math', property: 'random', message: RANDOM },
      { object: 'crypto', property: 'randomUUID', message: RANDOM },
      { object: 'crypto', property: 'getRandomValues', message: RANDOM },
    ],
  },
};

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'max-params': ['error', { max: 3 }],
    eqeqeq: 'error',
    'no-shadow': 'error',
    'no-underscore-dangle': ['error', { allow: ['_meta'] }],
    'no-throw-literal': 'error',
    'prefer-const': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    // Off: each fires on code that is meant as it stands.
    'import/no-named-as-default-member': 'off', // fast-check is read as `fc.…`
    'no-unmodified-loop-condition': 'off', // closures change what a loop waits for
    'unicorn/no-array-reverse': 'off', // a fresh array may be turned in place
    'unicorn/no-array-sort': 'off', // and sorted in place
    'vitest/expect-expect': 'off', // it does not see assertions in functions of our own
    'vitest/no-conditional-expect': 'off', // table tests judge by row
    'vitest/no-standalone-expect': 'off', // it does not know `verifies`
    'no-control-regex': 'off', // text of peers is cleaned of control characters
    'typescript/consistent-return': 'off', // noImplicitReturns judges it, and knows exhaustive switches
    'typescript/no-unnecessary-boolean-literal-compare': 'off', // `=== true` says that undefined is no
    'typescript/no-unsafe-type-assertion': 'off', // rows and parsed JSON are asserted where they are checked
    'promise/always-return': 'off', // the compiler knows which callbacks return
    'unicorn/prefer-add-event-listener': 'off', // SDK objects have `on…` members that are no DOM events
    'unicorn/consistent-function-scoping': 'off', // a helper may stand where it is read
    'unicorn/no-thenable': 'off', // `then` is a keyword of JSON Schema
    'typescript/unbound-method': 'off', // objects of closures have no `this` to lose
  },
  overrides: [
    product,
    oneClock,
    ...importTable,
    {
      files: ['bench/**', 'examples/**', 'test/**'],
      rules: { 'typescript/no-base-to-string': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});
