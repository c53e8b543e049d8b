export interface Scenario {
  readonly title: string
  readonly about: string
  readonly code: string
}

const loop = (body: string): string => `while (true) {\n${body}\n  await sleep(200 + 400 * Math.random())\n}`

export const scenarios = {
  lock: {
    title: 'Lock',
    about: 'One process at a time. The others wait until the server wakes them up.',
    code: loop(`  await client.lock('report').using(async () => {
    await sleep(900)
  })`),
  },
  fair: {
    title: 'Fair lock',
    about: 'First come, first served, among all processes.',
    code: loop(`  await client.fairLock('report').using(async () => {
    await sleep(900)
  })`),
  },
  semaphore: {
    title: 'Semaphore',
    about: 'Two permits: two processes at a time. A permit that expires comes back after a crash.',
    code: `const seats = client.permitSemaphore('seats')
await seats.trySetPermits(2)
${loop(`  const permit = await seats.acquire()
  await sleep(1200)
  await permit.release()`)}`,
  },
  election: {
    title: 'Election',
    about: 'One leader. When it crashes, another takes over after its lease.',
    code: `await client.election('leader').lead(async ({ signal, term }) => {
  say('I lead, term ' + term)
  while (!signal.aborted) await sleep(100)
})`,
  },
  fence: {
    title: 'Fencing token',
    about:
      'Pause the holder beyond its lease. It writes when it resumes, too late: the storage has seen a newer token.',
    code: loop(`  const hold = await client.fencedLock('disk').acquire()
  await sleep(1500)
  try {
    await write(hold.token, me)
  } catch (error) {
    say(error.message)
  }
  await hold.release()`),
  },
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof scenarios
