import type { Answer, Field } from './stored-answer-format.js'

const problem = (status: number, title: string, detail: string, ...fields: readonly Field[]): Answer => ({
  status,
  fields: [['content-type', 'application/problem+json'], ...fields],
  body: Buffer.from(JSON.stringify({ title, status, detail })),
})

/** In seconds. Nobody knows when the handler will have ended. */
const SOON: Field = ['retry-after', '1']

/** The answers of the middleware itself, in the form that the draft recommends (RFC 9457). */
export const REPLIES = {
  missing: problem(400, 'Idempotency-Key is missing', 'This request must have an Idempotency-Key header field.'),
  malformed: problem(
    400,
    'Idempotency-Key is malformed',
    'An Idempotency-Key must be one text of 1 to 255 printable ASCII characters; with spaces in it, in quotes.',
  ),
  tooDeep: problem(
    400,
    'The body is nested too deeply',
    'Two bodies with so many levels cannot be compared. Send a body with fewer levels.',
  ),
  running: problem(
    409,
    'A request with this Idempotency-Key is running',
    'Another request with the same Idempotency-Key has not been answered yet. Retry later.',
    SOON,
  ),
  differs: problem(
    422,
    'Idempotency-Key is already used',
    'Another request had the same Idempotency-Key, but another method, path or body.',
  ),
  notKept: problem(
    410,
    'The answer is not kept',
    'A request with this Idempotency-Key has been answered, but its answer is not kept. It does not run again.',
  ),
  away: problem(
    503,
    'Idempotency-Key cannot be checked',
    'The server that keeps the keys cannot be asked. Nothing was done. Retry later.',
    SOON,
  ),
} as const

/** Tells a requester that the answer is that of an earlier request. */
const REPLAYED: Field = ['idempotent-replayed', 'true']

export const replayOf = ({ status, fields, body }: Answer): Answer => ({
  status,
  fields: [...fields.filter(([name]) => name !== REPLAYED[0]), REPLAYED],
  body,
})
