/** What a client sends: text as UTF-8, numbers as decimal text, bytes unchanged. */
export type Arg = string | number | Uint8Array

/** What a client receives. Bulk strings are text, or bytes if the command asked for bytes; errors appear only within arrays. */
export type Reply = null | number | string | Uint8Array | boolean | Error | Reply[]
