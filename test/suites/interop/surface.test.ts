import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { buildDriver, INTEROP, NEWEST } from './support/build.js'

const PAGE = readFileSync(join(INTEROP, '../docs/redisson.md'), 'utf8')
const JAR = join(INTEROP, `java/target/${NEWEST}/lib/redisson-${NEWEST}.jar`)

/** The interfaces, each with those that only repeat its methods. */
const LOCK = ['java.util.concurrent.locks.Lock', 'RLockAsync', 'RObservable']
const FAMILY: Readonly<Record<string, readonly string[]>> = {
  ...{ RLock: LOCK, RFencedLock: ['RFencedLockAsync'], RReadWriteLock: [], RSemaphore: ['RSemaphoreAsync'] },
  ...{ RPermitExpirableSemaphore: ['RPermitExpirableSemaphoreAsync'], RCountDownLatch: ['RCountDownLatchAsync'] },
  ...{ RRateLimiter: ['RRateLimiterAsync'], RGcra: ['RGcraAsync'], RTopic: ['RTopicAsync', 'RShardedTopic'] },
  ...{ RReliableTopic: ['RReliableTopicAsync'] },
  ...{ RPatternTopic: [], RScript: ['RScriptAsync'], RFunction: ['RFunctionAsync'] },
  ...{ RObject: ['RObjectAsync'], RExpirable: ['RExpirableAsync'] },
}

const methodsOf = async (name: string): Promise<string[]> => {
  const qualified = name.includes('.') ? name : `org.redisson.api.${name}`
  const { stdout } = await promisify(execFile)('javap', ['-cp', JAR, '-public', qualified])
  return [...stdout.matchAll(/ (\w+)\(/g)].map(([, method = '']) => method.replace(/Async$/, ''))
}

/** As `RLock.tryLock`. */
const documented = (): string[] => {
  const [, table = ''] = /<!-- methods -->(.*)<!-- end of methods -->/s.exec(PAGE) ?? []
  return [...table.matchAll(/^\| `(\w+)` \| ([^|]*) \|/gm)].flatMap(([, of, methods = '']) =>
    [...methods.matchAll(/`(\w+)`/g)].map(([, method]) => `${of}.${method}`),
  )
}

void test(`docs/redisson.md → has each public method of Redisson ${NEWEST}'s interfaces once, and no other`, async (t) => {
  try {
    if (!existsSync(JAR)) await buildDriver(NEWEST)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'NO_JAVA')) throw error
    assert.ok(!(process.env['HOLDFAST_REQUIRE'] ?? '').includes('java'), error.message)
    t.skip(error.message)
    return
  }
  const theirs = await Promise.all(
    Object.entries(FAMILY).map(async ([name, more]) => {
      const methods = (await Promise.all([name, ...more].map(methodsOf))).flat()
      assert.ok(methods.length > 1, name)
      return [...new Set(methods)].map((method) => `${name}.${method}`)
    }),
  )
  assert.deepEqual(documented().sort(), theirs.flat().sort())
})
