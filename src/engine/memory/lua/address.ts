const addresses = new WeakMap<object, string>()
let last = 0x7f0000000000

/** The address that a script sees of an object; no two objects share one. */
export const addressOf = (value: object | null): string => {
  if (value === null) return '(nil)'
  let address = addresses.get(value)
  if (address === undefined) {
    last += 0x20
    address = `0x${last.toString(16)}`
    addresses.set(value, address)
  }
  return address
}
