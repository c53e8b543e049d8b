import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { redisEngine, scenarios, virtualEngine, type World } from '../../support/engines.js'
import { differences, type Mode, recorded, recording, Replay, type Step } from './replay.js'

const VERSIONS: Readonly<Record<string, Mode>> = { '3.8.1': '3.8', '3.16.8': '3.16', '3.17.7': '3.17', '4.7.0': '4' }

/** From which step on a scenario is about something else, and why. */
const UNTIL: Readonly<Record<string, readonly [modes: readonly Mode[], step: number, why: string]>> = {
  'an entry without a score': [['3.8', '3.16', '3.17', '4'], 3, 'their scripts fail, or wait for it; ours take it out'],
  'the last entry without a score': [['3.16', '3.17'], 4, 'their scripts fail; ours stand behind it all the same'],
  'limits of 0': [['3.16'], 1, 'who does not wait at all never queues'],
  'dead waiters': [['4'], 4, 'its allowance is the client’s, also where the wait is limited: nobody alive is dropped'],
  'a living waiter is dropped': [['4'], 4, 'the same'],
}

/** Where one gives up whose turn it is, ours call the next. */
const CALLED_BESIDES: Readonly<Record<string, readonly [step: number, message: string]>> = {
  'the head leaves when it is its turn': [4, 'redisson_lock__channel:{N}:C 0'],
}

const withCalls = (title: string, steps: readonly Step[]): readonly Step[] => {
  const [at, message] = CALLED_BESIDES[title] ?? []
  return steps.map((step, index) => (index === at && message !== undefined ? { ...step, messages: [message] } : step))
}

/** How much longer than it says a run may take, ms: so long, and what the machine did to it says nothing. */
const calm = (steps: readonly Step[]): number => (steps.some(({ step }) => step.startsWith('sleep')) ? 150 : 1500)

const planned = (steps: readonly Step[]): number =>
  steps.reduce((sum, { step }) => sum + (step.startsWith('sleep') ? Number(step.split(' ')[1]) : 0), 0)

const play = async (w: World, mode: Mode, replay: Replay, steps: readonly Step[]) => {
  const [begun, wrong] = [w.now(), [] as string[]]
  for (const step of steps) {
    wrong.push(...differences(recorded(step), await replay.step(step.step), mode))
  }
  return { wrong, over: w.now() - begun - planned(steps) }
}

for (const engine of [virtualEngine, redisEngine]) {
  for (const [version, mode] of Object.entries(VERSIONS)) {
    void describe(`what Redisson ${version} did, done in mode ${mode} on ${engine.name}`, () => {
      const scenario = scenarios(engine)
      for (const [title, all] of Object.entries(recording(version))) {
        const [modes, until, why] = UNTIL[title] ?? []
        const differs = modes?.includes(mode) === true
        const steps = withCalls(title, differs ? all.slice(0, until) : all)
        scenario(differs ? `${title} (as far as step ${until}: ${why})` : title, async (w) => {
          w.leavesKeys = true
          const replay = new Replay(w, mode)
          await replay.listen()
          for (let run = 1; ; run += 1) {
            const { wrong, over } = await play(w, mode, replay, steps)
            if (wrong.length === 0) break
            assert.ok(over > calm(steps) && run < 40, wrong.join('\n'))
            await replay.clear()
          }
        })
      }
    })
  }
}
