/** What goes out: text as UTF-8, numbers as decimal text, bytes as they are. */
export type Arg = string | number | Uint8Array

/** What comes back. Bulk strings are text, or bytes when the command asked for bytes; an error only within an array. */
export type Reply = null | number | string | Uint8Array | boolean | Error | Reply[]
