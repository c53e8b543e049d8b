/** Just enough of RESP 2 to tell the messages of channels from everything else on a connection. */

const BULK = 0x24
const ARRAY = 0x2a
const NONE = Buffer.alloc(0)
const SUBSCRIBED = /^\*3\r\n\$\d+\r\n[sp]?subscribe\r\n/
const MESSAGE = /^\*[34]\r\n\$\d+\r\n[sp]?message\r\n/

/** Where the value that begins at `at` ends; -1: not all of it is here. */
const endOf = (data: Buffer, at: number): number => {
  const line = data.indexOf('\r\n', at)
  if (line === -1) return -1
  const count = Number(data.toString('latin1', at + 1, line))
  let end = line + 2
  if (data[at] === BULK && count >= 0) end += count + 2
  if (data[at] === ARRAY) for (let i = 0; i < count && end !== -1; i++) end = endOf(data, end)
  return end > data.length ? -1 : end
}

/**
 * Passes what a server sends, whole values at a time. On a connection that has subscribed `keep` says of each message
 * whether it passes.
 */
export const withoutMessages = (keep: () => boolean): ((data: Buffer) => Buffer) => {
  let rest: Buffer = NONE
  let subscribed = false
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const passing: Buffer[] = []
    let at = 0
    for (let end = endOf(data, 0); at < data.length && end !== -1; end = endOf(data, at)) {
      const start = data.toString('latin1', at, Math.min(end, at + 32))
      if (SUBSCRIBED.test(start)) subscribed = true
      if (!subscribed || !MESSAGE.test(start) || keep()) passing.push(data.subarray(at, end))
      at = end
    }
    rest = data.subarray(at)
    return passing.length === 1 ? (passing[0] as Buffer) : Buffer.concat(passing)
  }
}
