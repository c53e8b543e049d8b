import type { Code } from './codes.js'

/** Something that endangers locks. Its texts may come from others, and are escaped when they are printed. */
export interface Finding {
  readonly code: Code
  /** The server or the lock that it is about. */
  readonly about: string
  readonly what: string
  /** Commands that help, ready for a shell. */
  readonly run?: readonly string[]
}
