// @ts-check
import { once } from 'node:events'
import { createServer } from 'node:net'

export const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** @param {import('node:child_process').ChildProcess} child @param {unknown} question */
export const ask = async (child, question) => {
  const answer = once(child, 'message')
  child.send(/** @type {never} */ (question))
  return (await answer)[0]
}
