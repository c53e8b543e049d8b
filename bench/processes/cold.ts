/** A fresh process: `cold.js PARTICIPANT [URL]` says how long the import, and the first connection, took (ms). */
import { join } from 'node:path'
import type * as Published from 'holdfast'
import { requirePeer, root, STAGED } from '../base/paths.js'

const [what = '', url] = process.argv.slice(2)

const ready = async (): Promise<(url: string) => Promise<unknown>> => {
  if (what === 'holdfast') {
    const { connect } = (await import(join(root, STAGED, 'dist/index.js'))) as Pick<typeof Published, 'connect'>
    return connect
  }
  if (what === 'redis-semaphore') requirePeer('redis-semaphore')
  const { Redis } = await import('ioredis')
  return (address) => new Redis(address).ping()
}

const from = performance.now()
const connect = await ready()
const imported = performance.now()
if (url !== undefined) await connect(url)
console.log(JSON.stringify({ load: imported - from, connect: performance.now() - imported }))
process.exit(0)
