// @ts-check
/** The dashboard that is measured: a process of its own, so that its CPU time is nobody else's. Its parent asks for the figures. */
import { createServer } from 'node:http'
import { connect } from '../../dist/index.js'
import { dashboard, toNode } from '../../dist/dashboard/index.js'

/** @param {{ url: string }} options */
const begin = async ({ url }) => {
  const client = await connect({ url, presence: false, commandTimeout: 60_000 })
  let readings = 0
  const counting = new Proxy(client, {
    get: (target, part) => {
      if (part === 'list') readings += 1
      const value = Reflect.get(target, part)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const serve = toNode(dashboard({ client: counting, authorize: () => 'read', title: 'load' }))
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
  })
  process.on('message', (message) => {
    if (message === 'figures') {
      const { user, system } = process.cpuUsage()
      process.send?.({ cpu: (user + system) / 1000, readings, at: performance.now() })
    } else if (message === 'heap') {
      globalThis.gc?.()
      process.send?.(process.memoryUsage().heapUsed)
    }
  })
}

process.once('message', (options) => void begin(/** @type {{ url: string }} */ (options)))
process.once('disconnect', () => process.exit(0))
