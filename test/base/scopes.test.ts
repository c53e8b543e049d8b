import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect, type Lock } from 'holdfast'
import { Redis } from 'ioredis'
import { startRedis } from '../support/redis-server.js'
import { until } from '../support/until.js'

type Client = Awaited<ReturnType<typeof connect>>

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Whatever scope of the application a listener is registered in. */
const request = new AsyncLocalStorage<string>()

/** Work that says how many of its kind were inside the lock together. */
class Inside {
  most = 0
  done = 0
  #now = 0
  readonly #lock: Lock

  constructor(lock: Lock) {
    this.#lock = lock
  }

  readonly work = async (): Promise<void> => {
    this.most = Math.max(this.most, ++this.#now)
    await sleep(40)
    this.#now--
    this.done++
  }

  readonly enter = (): void => void this.#lock.using(this.work)
}

for (const engine of ['memory', 'Redis'] as const) {
  describe(`listeners and scopes, ${engine}`, { timeout: 60_000 }, () => {
    let server: Awaited<ReturnType<typeof startRedis>> | undefined
    let url = 'memory:scopes'
    let raw: Redis | undefined
    const clients: Client[] = []
    const open = async (): Promise<Client> => {
      const client = await connect({ url, watchdog: 1500 })
      clients.push(client)
      return client
    }

    before(async () => {
      if (engine === 'memory') return
      server = await startRedis()
      url = server.url
      raw = new Redis(url)
    })
    after(async () => {
      await Promise.all(clients.map((client) => client.close()))
      raw?.disconnect()
      await server?.stop()
    })

    test('a topic listener is not inside the using() that opened the connection for messages, or that published', async () => {
      const client = await open()
      const lock = client.lock('topic')
      const inside = new Inside(lock)
      const topic = client.topic('news')
      const seen: unknown[] = []
      await lock.using(async () => {
        await inside.work()
        // The first subscription of the client: it makes the connection.
        await client.topic('another').subscribe(() => undefined)
      })
      await request.run('subscriber', () =>
        topic.subscribe(() => {
          seen.push(request.getStore())
          inside.enter()
        }),
      )
      await request.run('publisher', () =>
        lock.using(async () => {
          await topic.publish(1)
          await topic.publish(2)
          await inside.work()
        }),
      )
      await until(() => inside.done === 4)
      assert.equal(inside.most, 1)
      assert.deepEqual(seen, ['subscriber', 'subscriber'])
    })

    test('a loop over messages goes on in the scope in which it runs', async () => {
      const client = await open()
      const lock = client.lock('loop')
      const inside = new Inside(lock)
      const topic = client.topic('loop')
      const messages = topic.messages()
      const seen: unknown[] = []
      const loop = request.run('loop', async () => {
        for await (const message of messages) {
          seen.push([message, request.getStore()])
          await lock.using(inside.work)
          if (message === 2) break
        }
      })
      await until(async () => (await topic.subscribers()) === 1)
      await lock.using(async () => {
        await topic.publish(1)
        await topic.publish(2)
        await inside.work()
      })
      await loop
      assert.equal(inside.most, 1)
      assert.deepEqual(seen, [
        [1, 'loop'],
        [2, 'loop'],
      ])
    })

    test('listeners of a lost hold are not inside the using() in which that is found', async () => {
      const [client, other] = [await open(), await open()]
      const lock = client.lock('around')
      const inside = new Inside(lock)
      const seen: unknown[] = []
      const hold = await client.lock('lost').acquire({ lease: 300 })
      const note = (who: string) => () => {
        seen.push([who, request.getStore()])
        inside.enter()
      }
      request.run('client', () => client.on('lost', note('client')))
      request.run('signal', () => {
        hold.signal.addEventListener('abort', note('signal'), { once: true })
        // Removed by the very function that was added.
        const removed = note('removed')
        hold.signal.addEventListener('abort', removed)
        hold.signal.removeEventListener('abort', removed)
        hold.signal.addEventListener('abort', { handleEvent: note('object') })
      })
      hold.signal.onabort = note('property')
      await request.run('reader', () =>
        lock.using(async () => {
          await other.lock('lost').forceRelease()
          const end = performance.now() + 400
          // The event loop stands still: nobody else finds it.
          while (performance.now() < end);
          assert.equal(hold.state, 'lost')
          await inside.work()
        }),
      )
      await until(() => inside.done === 5)
      assert.equal(inside.most, 1)
      assert.deepEqual([...seen].sort(), [
        ['client', 'client'],
        ['object', 'signal'],
        ['property', undefined],
        ['signal', 'signal'],
      ])
    })

    test('listeners of a hold that the watchdog finds lost are not inside the using() that set its timer', async () => {
      const [client, other] = [await open(), await open()]
      const lock = client.lock('timer')
      const inside = new Inside(lock)
      client.on('lost', inside.enter)
      // The first hold of the client, taken within the scope.
      await lock.using(async () => {
        const hold = await client.lock('watched').acquire()
        await other.lock('watched').forceRelease()
        await until(() => hold.lost)
        await inside.work()
      })
      await until(() => inside.done === 2)
      assert.equal(inside.most, 1)
    })

    test('a client that was made within using() is not inside it', async () => {
      const first = await open()
      const lock = first.lock('connects')
      const inside = new Inside(lock)
      await lock.using(async () => {
        const second = await open()
        await second.topic('made').subscribe(() => undefined)
        await request.run('topic', async () => {
          await first.topic('made').subscribe(() => undefined)
        })
      })
      await first.topic('made').subscribe(inside.enter)
      await lock.using(async () => {
        await first.topic('made').publish(1)
        await inside.work()
      })
      await until(() => inside.done === 2)
      assert.equal(inside.most, 1)
    })

    test('a gap is told in the scope in which its listener was registered', { skip: engine === 'memory' }, async () => {
      const client = await open()
      const lock = client.lock('gap')
      const inside = new Inside(lock)
      const seen: unknown[] = []
      const subscription = await lock.using(() => client.topic('gaps').subscribe(() => undefined))
      request.run('gap', () =>
        subscription.on('gap', () => {
          seen.push(request.getStore())
          inside.enter()
        }),
      )
      await lock.using(async () => {
        await raw?.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await until(() => seen.length > 0)
        await inside.work()
      })
      await until(() => inside.done === 2)
      assert.equal(inside.most, 1)
      assert.deepEqual(seen, ['gap'])
    })

    test('what a client keeps holds nothing of the scope in which it was first used', async () => {
      let kept: WeakRef<object> | undefined
      const client = await open()
      await request.run('user', () =>
        scoped.run({ big: true }, async () => {
          kept = new WeakRef(scoped.getStore() as object)
          const holder = await client.lock('kept').acquire()
          const waiting = client.lock('kept').acquire({ wait: 30 })
          await assert.rejects(waiting)
          await holder.release()
          await client.topic('kept').subscribe(() => undefined, { signal: AbortSignal.timeout(20) })
          await sleep(40)
        }),
      )
      const lasting = await client.lock('lasting').acquire()
      await until(async () => {
        await sleep(20)
        collectGarbage()
        return kept?.deref() === undefined
      })
      await lasting.release()
    })
  })
}

const scoped = new AsyncLocalStorage<object>()
