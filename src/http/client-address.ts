import { isIPv4, isIPv6 } from 'node:net'

/** Addresses as a proxy may write them: `[::1]`, `[::1]:443`, `192.0.2.1:40001`; in quotes in a `Forwarded` field. */
const BRACKETS = /^\[([^\]]*)\](?::\d*)?$/
const PORT = /^([\d.]+):\d*$/

/** The eight groups of an IPv6 address, each a number of 16 bits. `isIPv6` accepts `address`, which has no zone. */
const groupsOf = (address: string): number[] => {
  const hex = address.replace(/[\d.]+$/, (tail) => {
    if (!tail.includes('.')) return tail
    const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number)
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [head = [], tail = []] = hex.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const between = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...between, ...tail].map((group) => Number.parseInt(group, 16))
}

/** Everything that is not an address counts as this one. */
const UNKNOWN = 'unknown'

/**
 * Maps an address to a key for `rateLimit`: requests with the same key count together. A client that has one address of an IPv6 network has 2^64 of them, so they
 * count as one: `2001:db8:0:1::/64`. Each IPv4 address counts alone, also if it is written as an IPv6 one (`::ffff:192.0.2.1`). Ports, brackets and zones make no
 * difference. Everything that is not an address counts as one, `unknown`.
 */
export const networkOf = (address: string | undefined): string => {
  if (typeof address !== 'string') return UNKNOWN
  const text = address.trim().replace(/^"(.*)"$/, '$1')
  const bare = BRACKETS.exec(text)?.[1] ?? PORT.exec(text)?.[1] ?? text
  const [plain = ''] = bare.split('%')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return UNKNOWN
  const groups = groupsOf(plain)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}
