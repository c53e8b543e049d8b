/** What is kept on the server until it is deleted, or its expiry is over. */
export interface Kept {
  /** As it was given to the client. */
  readonly name: string
  /** Whether it is on the server. */
  exists(): Promise<boolean>
  /** Milliseconds until it expires; `undefined` when it does not exist, `Infinity` when it never expires. */
  remaining(): Promise<number | undefined>
  /** Deletes it with all its keys. `false`: it was not there. */
  delete(): Promise<boolean>
  /** All its keys go after so many ms. `false`: it is not there. */
  expire(ms: number): Promise<boolean>
  /** It stays. `false`: it had no expiry. */
  clearExpire(): Promise<boolean>
}
