/** A fresh process: `cold.js PARTICIPANT [URL]` says how long the import, and the first connection, took (ms). */
import { requirePeer } from './paths.js'

const [what = '', url] = process.argv.slice(2)

const ready = async (): Promise<(url: string) => Promise<unknown>> => {
  if (what === 'holdfast') return (await import('holdfast')).connect
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
