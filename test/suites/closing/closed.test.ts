import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { type Client, ClosedError } from 'holdfast'
import ts from 'typescript'
import { rejection } from '../contract/lock/kind.js'
import { type Stage, onStage } from '../../support/stage.js'
import { type Held, LOCKS, callsOf } from '../../support/surface.js'

const heldOn = async ({ client, run }: Stage): Promise<Held> => {
  const take = (name: string) => run(client.lock(name).acquire({ lease: 60_000 }))
  await run(client.permitSemaphore('permits').trySetPermits(1))
  return {
    holds: [await take('held'), await take('other')],
    permit: await run(client.permitSemaphore('permits').acquire({ lease: 60_000 })),
    ticket: await run((await take('detached')).detach()),
  }
}

/** Those too that a client that closes would answer otherwise. */
const callsOn = (client: Client, held: Held): Readonly<Record<string, () => Promise<unknown>>> => ({
  ...callsOf(client, held),
  ...Object.fromEntries(
    Object.entries(LOCKS).map(([kind, lockOf]) => [
      `${kind}.for.unlock`,
      () => lockOf(client, 'l').for(client.owner()).unlock(),
    ]),
  ),
  'locks.request': () => client.locks.request('w', () => 1),
  'locks.query': () => client.locks.query(),
  'topic.subscribe': () => client.topic('t').subscribe(() => undefined),
  'flight.run': () => client.flight('f').run('a', () => 1),
  'flight.forget': () => client.flight('f').forget('a'),
  'flight.inspect': () => client.flight('f').inspect('a'),
  'patternTopic.subscribe': () => client.patternTopic('t*').subscribe(() => undefined),
})

onStage('the client is closed → every call returns a promise, which rejects with ClosedError', async (stage) => {
  const { client, clock, raw, run } = stage
  const held = await heldOn(stage)
  const before = callsOn(client, held)
  await run(client.close())
  const wrong: string[] = []
  for (const calls of [before, callsOn(client, held)]) {
    for (const [name, call] of Object.entries(calls)) {
      try {
        const error = await run(rejection(call()))
        if (!(error instanceof ClosedError)) wrong.push(`${name} rejects with ${String(error)}`)
      } catch (error) {
        wrong.push(`${name} throws ${String(error)}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
  await clock.advance(60_000)
  raw('DEL', 'permits', '{permits}:timeout')
})

const API = new URL('../../../../src/api/', import.meta.url)

/** Where the calls of an interface stand among those above. */
const PLACES: Readonly<Record<string, string>> = {
  ...{ Client: '', Hold: '', Permit: '', Lock: 'lock.', OwnedLock: 'lock.for.', OwnedFencedLock: 'fencedLock.for.' },
  ...{ Kept: 'semaphore.', Semaphore: 'semaphore.', PermitSemaphore: 'permitSemaphore.' },
  ...{ CountDownLatch: 'countDownLatch.', RateLimiter: 'rateLimiter.', Script: 'script.', Scripts: 'scripts.' },
  ...{ Functions: 'functions.' },
  ...{ Topic: 'topic.', PatternTopic: 'patternTopic.', Flight: 'flight.', WebLocks: 'locks.' },
}

/** They never reject. */
const NEVER = [
  'Client.close',
  'Hold.release',
  'Permit.release',
  'Subscription.unsubscribe',
  'Listenable.unsubscribeAll',
]

/** Made of locks, and not among those calls. */
const ELSEWHERE = ['election.ts', 'slots.ts']

/** As `Lock.acquire`. */
const promised = (): string[] =>
  readdirSync(API).flatMap((file) => {
    if (!file.endsWith('.ts') || ELSEWHERE.includes(file)) return []
    const source = ts.createSourceFile(file, readFileSync(new URL(file, API), 'utf8'), ts.ScriptTarget.ES2022)
    return source.statements.filter(ts.isInterfaceDeclaration).flatMap(({ name, members }) =>
      members
        .filter(ts.isMethodSignature)
        .filter(({ type }) => type?.getText(source).startsWith('Promise<'))
        .map((member) => `${name.text}.${member.name.getText(source)}`),
    )
  })

onStage('every method that returns a promise is among those calls', async (stage) => {
  const { clock, client, raw } = stage
  const called = Object.keys(callsOn(client, await heldOn(stage)))
  const methods = promised().filter((method) => !NEVER.includes(method))
  assert.ok(methods.length > 60, `${methods.length} methods`)
  const left = methods.filter((method) => {
    const [of = '', name = ''] = method.split('.')
    return !called.some((call) => call.split(' ')[0] === `${PLACES[of] ?? '?'}${name}`)
  })
  assert.deepEqual(left, [])
  await clock.advance(60_000)
  raw('DEL', 'permits', '{permits}:timeout')
})
