import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { cronOf } from '#src/schedule/cron.js'

/** The table of docs/slots.md: zone, pattern, day of the change, and the slots around it, as UTC. */
const page = readFileSync(new URL('../../../docs/slots.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `([\w/]+)`, (\S+) \| `([^`]+)` \| (.+?) \| .* \|$/gm)]

describe('daylight saving', () => {
  test('the table of docs/slots.md has five zones, and both directions', () => {
    assert.ok(new Set(rows.map(([, zone]) => zone)).size >= 5, String(rows.length))
    assert.ok(rows.length >= 10)
  })

  for (const [, zone = '', day = '', pattern = '', slots = ''] of rows)
    test(`${pattern} in ${zone} on ${day} → ${slots} UTC`, async () => {
      const cron = await cronOf(pattern, zone)
      const local = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
      const found: string[] = []
      const start = Date.parse(`${day}T00:00:00Z`) - 26 * 3_600_000
      let at = cron.next(start)
      for (; at !== undefined && at < start + 80 * 3_600_000; at = cron.next(at))
        if (local.format(at) === day) found.push(new Date(at).toISOString().slice(11, 16))
      const shown = found.length > 6 ? `${found.length} slots` : found.join(', ')
      assert.equal(shown, slots)
      // Both ways of asking must name the same slots, or two processes would run one twice.
      const asked = cron.before(start + 80 * 3_600_000, 200).filter((slot) => local.format(slot) === day)
      assert.deepEqual(
        asked.map((slot) => new Date(slot).toISOString().slice(11, 16)),
        found,
      )
    })
})
