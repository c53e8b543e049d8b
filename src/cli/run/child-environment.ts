import type { SlotRun } from '../../api/slots.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** What the command learns of what is held, by the names of the variables. */
export type Learned = Readonly<Record<string, string>>

/** What an outer `holdfast run` or `once` told must not be taken for what this one tells. */
const TOLD = [
  'HOLDFAST_NAME',
  'HOLDFAST_OWNER',
  'HOLDFAST_TOKEN',
  'HOLDFAST_TICKET',
  'HOLDFAST_SLOT',
  'HOLDFAST_ATTEMPT',
] as const

/** What the command learns of a lock or a permit. */
interface HeldFacts {
  readonly name: string
  readonly owner?: string | undefined
  readonly token?: bigint | undefined
  readonly ticket?: string | undefined
}

export const learnedOfHold = ({ name, owner, token, ticket }: HeldFacts): Learned => ({
  HOLDFAST_NAME: name,
  ...(owner !== undefined && { HOLDFAST_OWNER: owner }),
  ...(token !== undefined && { HOLDFAST_TOKEN: String(token) }),
  ...(ticket !== undefined && { HOLDFAST_TICKET: ticket }),
})

export const learnedOfSlot = (name: string, { slot, token, attempt }: SlotRun): Learned => ({
  HOLDFAST_NAME: name,
  HOLDFAST_SLOT: slot,
  HOLDFAST_TOKEN: String(token),
  HOLDFAST_ATTEMPT: String(attempt),
})

/** The environment of the command: that of this process, and what it learns of the lock. */
export const environmentOf = (env: Environment, learned: Environment): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !TOLD.some((one) => one === name))),
  ...learned,
})

/** What every shell passes on as it is. */
const PLAIN_NAME = /^(?!IFS$)[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Some shells drop variables that they have no name for, such as `spring.datasource.url` or a function of bash, so env(1) sets those again.
 * It would take a program with a `=` in its name for one more variable.
 */
export const withOddNames = (command: readonly string[], env: Environment): readonly string[] => {
  const odd = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || PLAIN_NAME.test(name) ? [] : `${name}=${value}`,
  )
  return odd.length === 0 || command[0]?.includes('=') === true ? command : ['env', '--', ...odd, ...command]
}
