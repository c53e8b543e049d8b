import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'

/** What a candidate wrote: that it led at this moment, or that its work has settled. */
export interface Sign {
  readonly at: number
  readonly term: bigint
  readonly label: string
  readonly settled: boolean
}

/** The time by which all processes of a machine are judged, ms. */
export const machineNow = (): number => Number(process.hrtime.bigint()) / 1e6

const signOf = (line: string): Sign => {
  const [at = '', term = '', label = '', end] = line.split(' ')
  return { at: Number(at), term: BigInt(term), label, settled: end !== undefined }
}

/** A term: who led, and from when until when it was seen to believe so. */
export interface TermSpan {
  readonly label: string
  readonly from: number
  until: number
  settled: number | undefined
}

/** Reads what the candidates write, and keeps the span of each term. */
export class Signs {
  readonly terms = new Map<bigint, TermSpan>()
  readonly wrong: string[] = []
  count = 0
  readonly #file: string
  #read = 0
  #rest = ''

  constructor(file: string) {
    this.#file = file
    writeFileSync(file, '')
  }

  get newest(): bigint {
    return [...this.terms.keys()].reduce((one, other) => (other > one ? other : one), 0n)
  }

  look(): void {
    const file = openSync(this.#file, 'r')
    const bytes = Buffer.alloc(1 << 16)
    for (let had; (had = readSync(file, bytes, 0, bytes.length, this.#read)) > 0; this.#read += had)
      this.#rest += bytes.toString('latin1', 0, had)
    closeSync(file)
    const lines = this.#rest.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#add(signOf(line))
  }

  #add({ at, term, label, settled }: Sign): void {
    this.count++
    const span = this.terms.get(term)
    if (span !== undefined && span.label !== label) this.wrong.push(`term ${term} is of ${span.label} and of ${label}`)
    if (span === undefined) this.terms.set(term, { label, from: at, until: at, settled: settled ? at : undefined })
    else if (settled) span.settled = at
    else span.until = Math.max(span.until, at)
  }

  /** Terms of which one was still believed in when a later one began. */
  overlaps(): string[] {
    const spans = [...this.terms].sort(([one], [other]) => (one < other ? -1 : 1))
    return spans.flatMap(([term, { label, until }], i) => {
      const next = spans[i + 1]
      if (next === undefined || until < next[1].from) return []
      const ms = (until - next[1].from).toFixed(1)
      return [`${label} believes in term ${term} ${ms} ms after ${next[1].label} began term ${next[0]}`]
    })
  }
}
