import { connect } from 'holdfast'
import type { Actor, Compared } from './actors.js'
import { listenersOf } from './names.js'

/** What is said: something of each sort that the codec can say. */
const MESSAGE = { json: { text: 'ä', list: [1, true] }, string: 'ä text' }

/** `hear` is over with the first message. */
export const topic = (codec: keyof typeof MESSAGE): Compared => ({
  kind: 'topic',
  operations: ['hear', 'publish'],
  listeners: listenersOf,
  frees: /publish/,
  java: (redisson): Actor => ({
    side: 'java',
    id: redisson.id,
    run: (name, operation) => {
      const asked = { kind: 'topic', name }
      if (operation === 'publish')
        return redisson.request({ op: 'call', ...asked, method: 'publish', args: [MESSAGE[codec]] })
      return new Promise((resolve, reject) => {
        const told = (line: unknown): void => {
          const { message } = line as { readonly message?: unknown }
          // The first line says that it listens.
          if (message !== undefined && message !== null) resolve(message)
        }
        redisson.request({ op: 'hear', ...asked, messages: 1 }, told).catch(reject)
      })
    },
    close: () => redisson.shutdown(),
  }),
  async node(url, options) {
    const client = await connect({ ...options, url, codec: codec === 'json' ? 'jackson' : 'string', presence: false })
    return {
      side: 'node',
      id: client.id,
      async run(name, operation) {
        if (operation === 'publish') return client.topic(name).publish(MESSAGE[codec])
        return new Promise((resolve, reject) => {
          const hearing = client.topic(name).subscribe((message) => {
            resolve(message)
            void hearing.then((subscription) => subscription.unsubscribe())
          })
          hearing.catch(reject)
        })
      },
      close: () => client.close(),
    }
  },
})
