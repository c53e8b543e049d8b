import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#src/base/clock.js'
import type { DriverEvents } from '#src/engine/driver.js'
import { Link } from '#src/engine/link.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { EngineError } from '#src/errors.js'

/** What a server, or the client of one, may say while a connection is made again. */
const SAID = [
  "ERR unknown command 'AUTH', with args beginning with: 'bird' 'canary' ",
  "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'bird' 'canary' ",
  "NOPERM User bird has no permissions to run the 'subscribe' command",
]

/** Its events are told by the test. */
class Telling extends MemoryDriver {
  told: DriverEvents | undefined
  override open(events: DriverEvents): Promise<void> {
    this.told = events
    return super.open(events)
  }
}

test('an error of the connection is told as OFFLINE, without the user and the password that are in its text', async () => {
  const driver = new Telling(new MemoryServer(systemClock), undefined)
  const errors: Error[] = []
  const nothing = (): void => undefined
  const link = new Link(
    driver,
    { clock: systemClock, connectTimeout: 1000, commandTimeout: 1000 },
    {
      message: nothing,
      reconnected: nothing,
      gap: nothing,
      unheard: nothing,
      moved: nothing,
      error: (error) => void errors.push(error),
    },
  )
  await link.open()
  for (const text of SAID) driver.told?.error(new Error(text))
  await link.close()
  assert.deepEqual(
    errors.map((error) => error instanceof EngineError && error.code),
    SAID.map(() => 'OFFLINE'),
  )
  for (const error of errors) assert.doesNotMatch(JSON.stringify([error, error.message, error.stack]), /bird|canary/)
})
