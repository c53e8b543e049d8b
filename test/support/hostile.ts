/** What other people's code may throw, reject with, or give as a reason. */

const throwing = (): never => {
  throw new Error('looked at')
}

const HANDLER: ProxyHandler<object> = Object.fromEntries(
  ['get', 'has', 'getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor', 'set', 'isExtensible', 'defineProperty'].map(
    (trap) => [trap, throwing],
  ),
)

const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

const errorWith = (part: string, descriptor: PropertyDescriptor): Error =>
  Object.defineProperty(new Error('theirs'), part, { configurable: true, ...descriptor })

const GETTERS = ['message', 'name', 'code', 'stack', 'cause', 'status', 'headers', 'toString'] as const

/** Each makes a new one: it must come back as the very same. */
export const HOSTILE: Readonly<Record<string, () => unknown>> = {
  'an object without a prototype': () => Object.create(null) as unknown,
  undefined: () => undefined,
  null: () => null,
  'a symbol': () => Symbol('theirs'),
  'a bigint': () => 2n ** 64n,
  NaN: () => NaN,
  'an empty text': () => '',
  'a long text': () => 'x'.repeat(10_000_000),
  'a function': () => throwing,
  'a proxy that throws at everything': () => new Proxy({}, HANDLER),
  'a proxy of an Error that throws at everything': () => new Proxy(new Error('theirs'), HANDLER),
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of a function': () => revoked(() => undefined),
  'an object whose toString throws': () => ({ toString: throwing }),
  'an object whose Symbol.toPrimitive throws': () => ({ [Symbol.toPrimitive]: throwing }),
  'an object whose then is a getter that throws': () => ({
    get then(): never {
      return throwing()
    },
  }),
  'a thenable that calls back twice': () => ({
    then(resolve: (value: unknown) => void) {
      resolve(1)
      resolve(2)
    },
  }),
  'a thenable that never calls back': () => ({ then: () => undefined }),
  'a thenable that throws': () => ({ then: throwing }),
  'an Error whose message is a symbol': () => errorWith('message', { value: Symbol('theirs') }),
  'an Error whose message has 10 MB': () => new Error('x'.repeat(10_000_000)),
  'an Error that is many lines': () => new Error('one\nholdfast: two\r\n\u001b[2Jthree\u2028four\u202efive'),
  'an Error whose stack is a number': () => errorWith('stack', { value: 5 }),
  ...Object.fromEntries(
    GETTERS.map((part) => [`an Error whose ${part} is a getter that throws`, () => errorWith(part, { get: throwing })]),
  ),
}

/** What must never be in a text for people. */
export const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Names that would write a line of their own, colour the terminal, turn the text round, or fill the log. */
export const STRANGE_NAMES: readonly string[] = [
  'a\nholdfast: the lock was released',
  'a\r\u001b[2K\u001b]0;owned\u0007',
  'a\u0085\u009b31m',
  'a\u2028b\u2029c',
  'a\u202eb\u2066c\u2069',
  'a\u0000\u007f\u00ad\ufeff\u200e',
  '\n'.repeat(60_000),
  'x'.repeat(65_536),
  '𝒳'.repeat(10_000),
]
