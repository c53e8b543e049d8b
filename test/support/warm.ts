import type { Scenario } from './engines.js'
import type { Client, World } from './worlds.js'

/**
 * An embedded server compiles each script when it first meets it. Tests that begin together so stop their process for two seconds, on a busy machine for
 * fifteen, and leases of a second or two end meanwhile, as they should. Here each test has its scripts compiled before it counts on a lease.
 */
export const afterWarmUp =
  (scenario: Scenario, warm: (world: World, clients: readonly [Client, Client]) => Promise<unknown>): Scenario =>
  (name, body, needs) => {
    scenario(
      name,
      async (world) => {
        if (world.engine === 'memory') await warmUp(world, warm)
        await body(world)
      },
      needs,
    )
  }

const warmUp = async (world: World, warm: Parameters<typeof afterWarmUp>[1]): Promise<void> => {
  const clients = [await world.connect(), await world.connect()] as const
  await world.run(warm(world, clients))
  for (const client of clients) await world.run(client.close())
  for (const key of (await world.raw('KEYS', '*')) as string[]) await world.raw('DEL', key)
}
