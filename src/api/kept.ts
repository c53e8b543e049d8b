/** An object that stays on the server until you delete it, or until it expires. */
export interface Kept {
  /** The name that you gave the object. */
  readonly name: string
  /** Whether it is on the server. */
  exists(): Promise<boolean>
  /** How many ms are left until it expires; `undefined` if it does not exist, `Infinity` if it never expires. */
  remaining(): Promise<number | undefined>
  /** Deletes it with all its keys. `false`: it did not exist. */
  delete(): Promise<boolean>
  /** Lets all its keys expire after this many ms. `false`: it does not exist. */
  expire(ms: number): Promise<boolean>
  /** Removes the expiry, so that the object stays. `false`: it had no expiry. */
  clearExpire(): Promise<boolean>
}
