/** A script and what Redis 7.0.15 answers: an integer as `:1`, an error as `-…`, a string in quotes, a list in brackets. */
export type Snippet = readonly [script: string, reply: string]
