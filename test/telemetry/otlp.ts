import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One message of protobuf: for each field number, its values as they were sent. */
class Message {
  readonly #fields = new Map<number, (bigint | Buffer)[]>()

  constructor(bytes: Buffer) {
    for (let at = 0; at < bytes.length;) {
      const [tag, from] = varint(bytes, at)
      let next = from
      const type = Number(tag & 7n)
      let value: bigint | Buffer
      if (type === 0) [value, next] = varint(bytes, next)
      else if (type === 1 || type === 5) value = bytes.subarray(next, (next += type === 1 ? 8 : 4))
      else {
        const [length, start] = varint(bytes, next)
        value = bytes.subarray(start, (next = start + Number(length)))
      }
      const number = Number(tag >> 3n)
      this.#fields.set(number, [...(this.#fields.get(number) ?? []), value])
      at = next
    }
  }

  #bytes(number: number): Buffer | undefined {
    const [value] = this.#fields.get(number) ?? []
    return Buffer.isBuffer(value) ? value : undefined
  }

  has(number: number): boolean {
    return this.#fields.has(number)
  }

  all(number: number): Message[] {
    return (this.#fields.get(number) ?? []).map((one) => new Message(one as Buffer))
  }

  one(number: number): Message {
    return this.all(number)[0] ?? new Message(Buffer.alloc(0))
  }

  text(number: number): string {
    return this.#bytes(number)?.toString() ?? ''
  }

  hex(number: number): string {
    return this.#bytes(number)?.toString('hex') ?? ''
  }

  double(number: number): number {
    return this.#bytes(number)?.readDoubleLE() ?? 0
  }

  fixed(number: number): number {
    return Number(this.#bytes(number)?.readBigInt64LE() ?? 0n)
  }

  /** A packed list. */
  doubles(number: number): number[] {
    return this.#eights(number).map((one) => one.readDoubleLE())
  }

  fixeds(number: number): number[] {
    return this.#eights(number).map((one) => Number(one.readBigInt64LE()))
  }

  #eights(number: number): Buffer[] {
    const all = this.#bytes(number) ?? Buffer.alloc(0)
    return Array.from({ length: all.length / 8 }, (_, i) => all.subarray(i * 8, i * 8 + 8))
  }

  int(number: number): number {
    const [value] = this.#fields.get(number) ?? []
    return typeof value === 'bigint' ? Number(value) : 0
  }
}

const varint = (bytes: Buffer, at: number): [value: bigint, next: number] => {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('the message was cut off')
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return [value, at]
  }
}

type Attributes = Readonly<Record<string, string | number | boolean>>

const valueOf = (value: Message): string | number | boolean => {
  if (value.has(1)) return value.text(1)
  return value.has(2) ? value.int(2) === 1 : value.int(3)
}

const attributesOf = (all: readonly Message[]): Attributes =>
  Object.fromEntries(all.map((one): [string, Attributes[string]] => [one.text(1), valueOf(one.one(2))]))

/** A span, as the receiver decoded it. */
export interface ReceivedSpan {
  readonly trace: string
  readonly id: string
  readonly parent: string
  readonly name: string
  /** ms. */
  readonly length: number
  /** ms since the epoch. */
  readonly end: number
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[]
  readonly links: readonly { readonly trace: string; readonly id: string; readonly attributes: Attributes }[]
  /** 2: an error. */
  readonly status: number
}

const spanOf = (span: Message): ReceivedSpan => ({
  trace: span.hex(1),
  id: span.hex(2),
  parent: span.hex(4),
  name: span.text(5),
  length: (span.fixed(8) - span.fixed(7)) / 1e6,
  end: span.fixed(8) / 1e6,
  attributes: attributesOf(span.all(9)),
  events: span.all(11).map((event) => ({ name: event.text(2), attributes: attributesOf(event.all(3)) })),
  links: span.all(13).map((link) => ({ trace: link.hex(1), id: link.hex(2), attributes: attributesOf(link.all(4)) })),
  status: span.one(15).int(3),
})

/** A point of a metric: `value` of a sum or gauge, `count` and `value` (their sum) of a histogram. */
export interface ReceivedPoint {
  readonly metric: string
  readonly unit: string
  readonly attributes: Attributes
  readonly value: number
  readonly count?: number
  readonly buckets?: { readonly bounds: readonly number[]; readonly counts: readonly number[] }
}

const pointsOf = (metric: Message): ReceivedPoint[] => {
  const about = { metric: metric.text(1), unit: metric.text(3) }
  const numbers = [5, 7].flatMap((kind) => metric.one(kind).all(1))
  const histograms = metric.one(9).all(1)
  return [
    ...numbers.map((point) => ({
      ...about,
      attributes: attributesOf(point.all(7)),
      value: point.has(4) ? point.double(4) : point.fixed(6),
    })),
    ...histograms.map((point) => ({
      ...about,
      attributes: attributesOf(point.all(9)),
      count: point.fixed(4),
      value: point.double(5),
      buckets: { bounds: point.doubles(7), counts: point.fixeds(6) },
    })),
  ]
}

/** Receives OTLP over HTTP, as a collector does. */
export class Receiver {
  readonly spans: ReceivedSpan[] = []
  /** Those of the last export. */
  points: ReceivedPoint[] = []
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const resources = new Message(Buffer.concat(parts)).all(1)
        const things = resources.flatMap((one) => one.all(2)).flatMap((scope) => scope.all(2))
        if (request.url === '/v1/traces') this.spans.push(...things.map(spanOf))
        else this.points = things.flatMap(pointsOf)
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
      })
    })
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
