import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'

/** Each error says what came and what is allowed. */
void test('what is easily passed by mistake → an error that says so', async () => {
  await using client = await connect('memory:')
  const work = (): number => 1
  const [slots, flight, election] = [client.slots('s'), client.flight('f'), client.election('e')]
  for (const [call, message] of [
    [() => slots.run('a', 5 as never), 'work must be a function, not 5'],
    [() => slots.run('a', 'x' as never), 'work must be a function, not "x"'],
    [() => flight.run('a', 5 as never), 'work must be a function, not 5'],
    [() => election.lead(5 as never), 'work must be a function, not 5'],
    [() => client.lock('l').using(5 as never), 'work must be a function, not 5'],
    [() => slots.run('a', 5 as never, work), 'options must be an object, not 5'],
    [() => slots.run('a', {}, undefined as never), 'work must be a function, not undefined'],
    [() => slots.run('a', work as never, {} as never), 'the options come before the work: (options, work)'],
    [
      () => flight.run('a', { ttl: 1e16 }, work),
      'ttl must be at most 4503599627370496 milliseconds, not 10000000000000000',
    ],
    [
      () => client.lock('l').acquire({ lease: 1e300 }),
      /^lease must be at most 4503599627370496 milliseconds, not 1e\+300$/,
    ],
    [
      () => flight.run('a', () => ({ big: 5n })),
      /^JSON cannot represent \[object Object\]: .*BigInt.*\. Convert it to text, for example, or choose another codec$/,
    ],
    [() => election.lead({ value: 5n }, work), /^JSON cannot represent 5n: .*BigInt/],
  ] as const)
    await assert.rejects(async () => call(), { message } as object)
})
