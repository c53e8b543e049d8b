import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { simulate } from 'holdfast/testing'

const main = fileURLToPath(import.meta.resolve('#src/testing/simulation/main.js'))

const run = (...args: string[]): { text: string; status: number | null } => {
  const { stdout, status } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
  return { text: stdout, status }
}

void describe('simulation', () => {
  void it('one number → the same history, to the last line', async () => {
    for (const seed of [1, 2, 3, 77, 4711]) {
      const once = await simulate(seed, { trace: true })
      const again = await simulate(seed, { trace: true })
      assert.ok(once.trace.length > 20)
      assert.deepEqual(again.trace, once.trace)
      assert.deepEqual([...again.counts], [...once.counts])
    }
  })

  void it('other numbers → other histories, with work done and things gone wrong', async () => {
    const seen = new Set<string>()
    const hit = new Set<string>()
    let grants = 0
    for (let seed = 100; seed < 160; seed++) {
      const outcome = await simulate(seed, { trace: true })
      seen.add(outcome.trace.slice(0, 60).join('\n'))
      grants += outcome.grants
      for (const pair of outcome.counts.keys()) hit.add(pair.split(' × ')[0] as string)
      assert.deepEqual(outcome.violations, [], `seed ${seed}`)
    }
    assert.equal(seen.size, 60)
    assert.ok(grants > 200, `${grants} grants`)
    assert.ok(hit.size > 15, [...hit].join(', '))
  })

  void it('permits of a semaphore → never more than there are, each given back once, nobody forgotten, nothing left', async () => {
    let grants = 0
    for (let n = 1; n <= 40; n++) {
      const outcome = await simulate(8_000_000_000 + n)
      assert.deepEqual(outcome.violations, [], `seed ${outcome.seed}`)
      grants += outcome.grants
    }
    assert.ok(grants > 150, `${grants} grants`)
  })

  for (const [first, what] of [
    [
      10_000_000_000,
      'permits that nothing tells apart → each counted on by one, none made or lost, first come first served',
    ],
    [11_000_000_000, 'latches → nobody passes before they are open, nobody waits when they are, each call counts once'],
    [12_000_000_000, 'rate limiters → no window of the interval holds more than the rate, nothing is granted in vain'],
    [
      13_000_000_000,
      'flights → one computes at a time, nobody sees a late result or one from before, nobody is forgotten',
    ],
    [
      15_000_000_000,
      'elections → never two terms that both believe, terms only grow, nobody waits for ever for a dead leader',
    ],
    [
      16_000_000_000,
      'slots → each runs once, and again by retry only, after a crash; who is skipped is told by whom; nobody waits for ever',
    ],
  ] as const) {
    void it(what, async () => {
      let grants = 0
      for (let n = 1; n <= 40; n++) {
        const outcome = await simulate(first + n)
        assert.deepEqual(outcome.violations, [], `seed ${outcome.seed}`)
        grants += outcome.grants
      }
      assert.ok(grants > 60, `${grants} grants`)
    })
  }

  void it('a part that is left out does not happen', async () => {
    const whole = await simulate(8, { trace: true })
    const step = whole.parts.find((part) => part.startsWith('p0.')) as string
    assert.ok(whole.trace.some((line) => line.includes(step)))
    const less = await simulate(8, { trace: true, masked: new Set([step]) })
    assert.ok(!less.trace.some((line) => line.includes(`${step}#`)))
  })

  void it('--seed S --trace → one history, the same text every time', () => {
    const once = run('--seed', '12', '--trace')
    assert.equal(once.status, 0)
    assert.match(once.text, /p0 .* asks for 'a'/)
    assert.match(once.text, /\n1 histories, 0 violations\n$/)
    assert.equal(run('--seed', '12', '--trace').text, once.text)
  })

  void it('--seconds N → many histories, a table of what was hit, and the sum', () => {
    const { text, status } = run('--seconds', '2', '--cores', '2')
    assert.equal(status, 0)
    assert.match(text, /times hit/)
    assert.match(text, /\n(?!0 )\d+ histories, 0 violations\n$/)
  })
})
