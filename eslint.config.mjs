import eslint from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

/** Time, timers and randomness come through the clock: these files alone touch the real ones. */
const REAL_CLOCK = ['src/base/clock.ts', 'src/testing/virtual-clock.ts', 'src/cli/**', 'src/dashboard/page/**']
const USE_THE_CLOCK = 'Take it from the clock (src/base/clock.ts).'
const CLOCK_GLOBALS = [
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'crypto',
]
const CLOCK_PROPERTIES = [
  { object: 'Math', property: 'random' },
  { object: 'process', property: 'hrtime' },
  { object: 'process', property: 'uptime' },
  { object: 'AbortSignal', property: 'timeout' },
  ...CLOCK_GLOBALS.map((property) => ({ object: 'globalThis', property })),
]
const CLOCK_IMPORTS = [
  ...[
    'node:timers',
    'node:timers/promises',
    'node:perf_hooks',
    'timers',
    'timers/promises',
    'perf_hooks',
    'crypto',
  ].map((name) => ({
    name,
    message: USE_THE_CLOCK,
  })),
  { name: 'node:crypto', allowImportNames: ['createHash', 'hash'], message: USE_THE_CLOCK },
]

/** What somebody threw may be anything; and what others wrote may hold anything. Each has one place where it becomes text. */
const LOOK_AT_IT = 'It may be anything: look at it with src/thrown.ts.'
const MAKE_IT_PLAIN = 'It may come from others: quoted() or plainText() of src/plain-text.ts.'
const ERRORS = '/^(Error|TypeError|RangeError|SyntaxError|AggregateError|DOMException)$/'
const CAUGHT = '/^(error|err|cause|reason|thrown|trouble|failure)$/'
const THROWN_AS_IT_IS = [
  `BinaryExpression[operator='instanceof'][right.name=${ERRORS}]`,
  `CallExpression[callee.name='String'] > Identifier.arguments[name=${CAUGHT}]`,
  `TemplateLiteral > Identifier.expressions[name=${CAUGHT}]`,
  `TSAsExpression > TSTypeReference[typeName.name=${ERRORS}]`,
  "TSAsExpression > TSTypeReference[typeName.right.name='ErrnoException']",
  `CallExpression[callee.property.name=/^(catch|on|once)$/] > :function > Identifier.params[typeAnnotation.typeAnnotation.typeName.name=${ERRORS}]`,
]
const NAMES = '/^(name|target|title|label|channel|key|lock|pattern)$/'
const NAMES_AS_THEY_ARE = [
  'NewExpression[callee.name=/(Error|DOMException)$/]',
  "CallExpression[callee.type='Super']",
  'CallExpression[callee.property.name=/^(emitWarning|fail)$/]',
  'CallExpression[callee.object.name=/^(logger|runtime)$/]',
  'CallExpression[callee.object.property.name=/^(logger|runtime)$/]',
].flatMap((shown) => [
  `${shown} TemplateLiteral > Identifier.expressions[name=${NAMES}]`,
  `${shown} TemplateLiteral > MemberExpression.expressions[property.name=${NAMES}]`,
])

const NODE_GLOBALS = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'URL',
  'URLSearchParams',
  'console',
  'fetch',
  'performance',
  'process',
  'setTimeout',
  'clearTimeout',
]

const IGNORED = { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }

const typescript = {
  files: ['**/*.ts', '**/*.tsx'],
  extends: [eslint.configs.recommended, tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
  languageOptions: {
    parserOptions: {
      project: [
        'tsconfig.json',
        'tsconfig.test.json',
        'site/playground/tsconfig.json',
        'src/dashboard/page/tsconfig.json',
      ],
      tsconfigRootDir: import.meta.dirname,
    },
  },
  rules: {
    '@typescript-eslint/consistent-type-imports': 'error',
    '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    '@typescript-eslint/no-unused-vars': ['error', IGNORED],
    '@typescript-eslint/no-confusing-void-expression': [
      'error',
      { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
    ],
    '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
    // An abort rejects with whatever the caller gave as the reason.
    '@typescript-eslint/only-throw-error': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
    '@typescript-eslint/prefer-promise-reject-errors': [
      'error',
      { allowThrowingAny: true, allowThrowingUnknown: true },
    ],
    '@typescript-eslint/no-empty-function': ['error', { allow: ['arrowFunctions', 'methods'] }],
    '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
    // These two ask for what no-non-null-assertion and a computed getter forbid.
    '@typescript-eslint/non-nullable-type-assertion-style': 'off',
    '@typescript-eslint/class-literal-property-style': 'off',
    // Slow, and there are no enums here.
    '@typescript-eslint/no-unsafe-enum-assignment': 'off',
    // A cast on purpose is told as if it were a mistake.
    '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    // Callbacks may return a promise or nothing.
    '@typescript-eslint/no-invalid-void-type': 'off',
    'no-prototype-builtins': 'off',
    // A method is async so that bad arguments reject instead of throwing.
    '@typescript-eslint/require-await': 'off',
    eqeqeq: 'error',
    'object-shorthand': 'error',
    'max-lines': ['warn', { max: 300 }],
    'max-lines-per-function': ['warn', { max: 40 }],
    'max-params': 'off',
    '@typescript-eslint/max-params': ['warn', { max: 4 }],
  },
}

export default defineConfig(
  globalIgnores([
    'dist/',
    '.build/',
    '**/*.gen.*',
    'bench/results/',
    'bench/peers/',
    'test/tools/package/',
    'examples/nestjs/',
    'site/.pages/',
    'site/.vitepress/dist/',
    'site/.vitepress/cache/',
  ]),
  typescript,
  {
    files: ['src/**/*.ts'],
    ignores: REAL_CLOCK,
    rules: {
      'no-restricted-globals': ['error', ...CLOCK_GLOBALS.map((name) => ({ name, message: USE_THE_CLOCK }))],
      'no-restricted-properties': ['error', ...CLOCK_PROPERTIES.map((one) => ({ ...one, message: USE_THE_CLOCK }))],
      'no-restricted-imports': ['error', { paths: CLOCK_IMPORTS }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/thrown.ts', 'src/engine/memory/**', 'src/testing/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...THROWN_AS_IT_IS.map((selector) => ({ selector, message: LOOK_AT_IT })),
        ...NAMES_AS_THEY_ARE.map((selector) => ({ selector, message: MAKE_IT_PLAIN })),
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach'],
            },
          ],
        },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      // A flag that a callback sets looks constant to the compiler.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      'max-lines': ['warn', { max: 500 }],
      'max-lines-per-function': 'off',
    },
  },
  {
    files: ['**/*.mjs'],
    extends: [eslint.configs.recommended],
    languageOptions: { globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])) },
    rules: { eqeqeq: 'error', 'object-shorthand': 'error', 'no-unused-vars': ['error', IGNORED] },
  },
)
