import type { Client, World } from '../../support/engines.js'

/** Computes, waits, and forgets. */
export const warmFlights = async (world: World, [one, two]: readonly [Client, Client]): Promise<void> => {
  const first = one.flight('warm').run('a', () => world.pause(150))
  await Promise.all([first, two.flight('warm').run('a', () => 1)])
  await one.flight('warm').forget('a')
}
