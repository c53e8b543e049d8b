/**
 * What commands cost the script that calls them. A command that works or makes more than its words show charges for it first: once it
 * has begun, nothing can stop it. Outside of scripts, nothing is counted.
 */
export type Charge = (steps: number, bytes: number) => void

let charges: Charge | undefined

/** Runs a command of a script at the script's expense. */
export const atExpense = <T>(charge: Charge, command: () => T): T => {
  const outer = charges
  charges = charge
  try {
    return command()
  } finally {
    charges = outer
  }
}

/** Throws if the script may not do that much any more. */
export const charge = (steps: number, bytes = 0): void => charges?.(steps, bytes)

/** The work of looking at each item once. */
export const chargeItems = (items: number): void => {
  if (items > FEW) charge(Math.ceil(items / 4))
}

/** Copying so many items to a place where they stay. */
export const chargeCopies = (items: number): void => {
  if (items > FEW) charge(items, items * ITEM)
}

/** Reading or moving so many bytes of a text. */
export const chargeText = (bytes: number): void => {
  if (bytes > SHORT) charge(Math.ceil(bytes / 16))
}

const FEW = 64
const SHORT = 1024
/** An item in a set, about: its place, and its entry in an index. */
const ITEM = 48
