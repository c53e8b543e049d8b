import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Linter } from 'eslint'
import { parser } from 'typescript-eslint'

interface Block {
  readonly rules?: Linter.RulesRecord
}

const ROOT = join(import.meta.dirname, '../../..')
const { default: blocks } = (await import(pathToFileURL(join(ROOT, 'eslint.config.mjs')).href)) as { default: Block[] }
const RULE = 'no-restricted-syntax'
const rule = blocks.map(({ rules }) => rules?.[RULE]).find((one) => one !== undefined)

const complaints = (code: string): string[] => {
  assert.ok(rule !== undefined)
  const config: Linter.Config = {
    files: ['**/*.ts'],
    languageOptions: { parser },
    rules: { [RULE]: rule },
  }
  return new Linter().verify(code, config, 'some.ts').map(({ message }) => message)
}

void describe('the lint', () => {
  for (const code of [
    'try { step() } catch (error) { tell(error instanceof Error) }',
    'try { step() } catch (cause) { tell(String(cause)) }',
    'try { step() } catch (thrown) { tell(`it threw ${thrown}`) }',
    'try { step() } catch (error) { tell((error as Error).message) }',
    'try { step() } catch (error) { tell((error as NodeJS.ErrnoException).code) }',
    'step().catch((error: Error) => tell(error.message))',
    "client.on('error', (error: Error) => tell(error.message))",
  ])
    test(`${code} → refused: what was thrown may be anything`, () => {
      assert.match(complaints(code).join('\n'), /src\/thrown\.ts/)
    })

  for (const code of [
    "throw new RangeError(`'${name}' is held`)",
    "throw new EngineError('OOM', `'${this.name}' is full`)",
    'reject(new Error(`no answer of ${this.#host.name}`))',
    "class Mine extends HoldfastError { constructor(target: string) { super('BUSY', `'${target}' is busy`) } }",
    "options.logger.warn(`'${label}' is gone`)",
    "this.#runtime.fail(new Error(`'${channel}' is gone`))",
  ])
    test(`${code} → refused: a name may hold anything`, () => {
      assert.match(complaints(code).join('\n'), /src\/plain-text\.ts/)
    })

  for (const code of [
    'try { step() } catch (error) { tell(error instanceof EngineError, textOf(error)) }',
    'throw new RangeError(`${quoted(name)} is held ${count} times`)',
    'const key = `redisson_lock:${name}`',
    'step().catch((error: unknown) => tell(textOf(error)))',
  ])
    test(`${code} → nothing is said`, () => assert.deepEqual(complaints(code), []))
})
