import 'reflect-metadata'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DynamicModule, Injectable, Module, Scope, SetMetadata } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { type Client, connect } from 'holdfast'
import { getHoldfastToken, HoldfastModule, Leader, Locked, RunOnce } from 'holdfast/nest'

/** What `@Cron` notes. */
const cron = (cronTime: string) => SetMetadata('SCHEDULE_CRON_OPTIONS', { cronTime, timeZone: 'UTC' })

type Class = new () => { work(): Promise<unknown> }

/** Decorates `work`, the innermost first, as a compiler does. */
const withWork = (work: () => Promise<unknown>, decorators: readonly unknown[], scope = Scope.DEFAULT): Class => {
  class Jobs {
    work(): Promise<unknown> {
      return work()
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'work') as PropertyDescriptor
  for (const decorate of decorators as MethodDecorator[]) decorate(Jobs.prototype, 'work', descriptor)
  Object.defineProperty(Jobs.prototype, 'work', descriptor)
  Injectable({ scope })(Jobs)
  return Jobs
}

const appOf = (modules: readonly DynamicModule[], jobs: Class, logged: string[] = []) => {
  class App {
    readonly jobs = jobs
  }
  Module({ imports: [...modules], providers: [jobs] })(App)
  const log = (message: unknown): void => {
    logged.push(String(message))
  }
  const logger = { log: () => undefined, warn: log, error: log }
  return NestFactory.createApplicationContext(App, { logger, abortOnError: false })
}

const memory = (name?: string): DynamicModule =>
  HoldfastModule.forRoot({ connect: 'memory:', drain: 100, isGlobal: true, ...(name === undefined ? {} : { name }) })

const done = (): Promise<string> => Promise.resolve('done')

void test('the client named default is not the one without a name', async () => {
  const jobs = withWork(done, [Locked('one'), Locked('two', { client: 'default' })])
  const app = await appOf([memory(), memory('default')], jobs)
  try {
    const held = await app.get<Client>(getHoldfastToken()).lock('two').acquire()
    const work = app.get<{ work(): Promise<unknown> }>(jobs).work()
    assert.equal(await Promise.race([work, new Promise((resolve) => setTimeout(resolve, 5000, 'waits'))]), 'done')
    await held.release()
  } finally {
    await app.close()
  }
})

void test('@Leader whose work never settles: the shutdown goes on after `drain`', async () => {
  const logged: string[] = []
  let leads: (value?: unknown) => void
  const leading = new Promise((resolve) => (leads = resolve))
  const endless = (): Promise<unknown> => {
    leads()
    return new Promise(() => undefined)
  }
  const app = await appOf([memory()], withWork(endless, [Leader('endless')]), logged)
  await leading
  const closed = app.close().then(() => 'closed')
  assert.equal(await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 20_000, 'hangs'))]), 'closed')
  assert.match(logged.join(), /a @Leader method still runs/)
})

void test('@RunOnce finds the pattern of @Cron through a decorator between the two', async () => {
  const jobs = withWork(done, [RunOnce('job'), Locked('job'), cron('* * * * * *')])
  const app = await appOf([memory()], jobs)
  try {
    assert.equal(await app.get<{ work(): Promise<unknown> }>(jobs).work(), 'done')
  } finally {
    await app.close()
  }
})

void test('@RunOnce without a pattern, or with a wrong one: the app does not start', async () => {
  await assert.rejects(appOf([memory()], withWork(done, [RunOnce('job')])), /@RunOnce needs a pattern/)
  await assert.rejects(appOf([memory()], withWork(done, [RunOnce('job'), cron('nonsense')])), /cannot compute slots/)
})

void test('@Leader: an unknown client is an error at the start, a request-scoped class a warning', async () => {
  await assert.rejects(appOf([memory()], withWork(done, [Leader('one', { client: 'no' })])), /HOLDFAST_CLIENT_no/)
  const logged: string[] = []
  const app = await appOf([memory()], withWork(done, [Leader('one')], Scope.REQUEST), logged)
  await app.close()
  assert.match(logged.join(), /@Leader\("one"\) never leads: its class is request-scoped/)
})

void test('a client that was put in place of the module’s own is not closed with the app', async () => {
  const mine = await connect('memory:')
  const module = memory()
  const token = getHoldfastToken()
  const providers = (module.providers ?? []).map((one) =>
    typeof one === 'object' && one.provide === token ? { provide: token, useValue: mine } : one,
  )
  const app = await appOf([{ ...module, providers }], withWork(done, []))
  await app.close()
  try {
    assert.equal((await mine.health()).state, 'up')
    await (await mine.lock('still').acquire()).release()
  } finally {
    await mine.close()
  }
})
