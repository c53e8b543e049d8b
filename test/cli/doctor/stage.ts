import assert from 'node:assert/strict'
import { holdfast, linesOf, type Surroundings } from '../commands/stage.js'

/** A server on which nothing is to be found. */
export const GOOD = ['--appendonly', 'yes'] as const

export interface FoundJson {
  readonly code: string
  readonly about: string
  readonly what: string
  readonly run: readonly string[]
  readonly see: string
  readonly ignored: boolean
}

export interface Diagnosis {
  readonly exit: number | null
  readonly findings: readonly FoundJson[]
  readonly codes: readonly string[]
  readonly servers: readonly Readonly<Record<string, unknown>>[]
  readonly locks: Readonly<Record<string, unknown>>
}

type Line = Readonly<Record<string, unknown>>

/** `holdfast doctor --json`. The exit code must fit what is found. */
export const diagnosed = async (args: readonly string[], surroundings: Surroundings): Promise<Diagnosis> => {
  const { code, out, error } = await holdfast(['doctor', '--json', ...args], surroundings)
  assert.equal(error, '')
  const lines = linesOf(out).map((line) => JSON.parse(line) as Line)
  const typed = (type: string): readonly Line[] => lines.filter((line) => line['type'] === type)
  const findings = typed('finding') as unknown as readonly FoundJson[]
  assert.equal(code, findings.some(({ ignored }) => !ignored) ? 1 : 0)
  const [locks = {}] = typed('locks')
  return { exit: code, findings, codes: findings.map((one) => one.code), servers: typed('server'), locks }
}

/** The only finding. */
export const onlyOne = ({ findings }: Diagnosis, code: string): FoundJson => {
  const [first] = findings
  assert.deepEqual([findings.length, first?.code], [1, code], JSON.stringify(findings))
  return first as FoundJson
}
