import { types } from 'node:util'
import type { Fields, Recording } from './response-recording.js'
import type { HandlerRun } from './handler-run.js'

type Source = ReadableStreamDefaultReader<Uint8Array>

export const fieldsIn = (headers: Headers): Fields => {
  const fields = new Map<string, readonly string[]>()
  for (const [name, value] of headers) fields.set(name, [value])
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) fields.set('set-cookie', cookies)
  return fields
}

const ignore = (): void => undefined

/** A part of a body. Servers take text, too. */
const bytesIn = (part: unknown): Uint8Array => {
  if (typeof part === 'string') return Buffer.from(part)
  if (types.isUint8Array(part)) return part
  throw new TypeError('a part of the response is neither bytes nor text')
}

/** The handler's answer goes on being recorded when its requester has left: a retry gets it. */
const drain = async (source: Source, run: HandlerRun, recording: Recording): Promise<void> => {
  // Nobody reads it any more. This also ends a read that waits.
  run.whenOver(() => {
    run.fail()
    void source.cancel().catch(ignore)
  })
  while (!recording.isTooLarge && !run.isOver) {
    const { done, value } = await source.read()
    if (done) break
    recording.add(bytesIn(value))
  }
  await run.finish()
}

/** The same stream, recorded. It ends when its answer is kept. It is read ahead, so that a slow requester does not keep the key claimed. */
const recorded = (body: ReadableStream<Uint8Array>, run: HandlerRun, recording: Recording, ahead: number) => {
  const source = body.getReader()
  let left = false
  const failed = (error: unknown): void => {
    run.fail()
    void source.cancel(error).catch(ignore)
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.read()
          const bytes = done ? undefined : bytesIn(value)
          if (bytes === undefined) await run.finish()
          else recording.add(bytes)
          if (left) return
          if (bytes === undefined) controller.close()
          else controller.enqueue(bytes)
        } catch (error) {
          failed(error)
          throw error
        }
      },
      cancel() {
        left = true
        drain(source, run, recording).catch(failed)
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: ahead }),
  )
}

/** Records a response of the web's kind; returns the one to send. */
export const recordedResponse = async (response: Response, run: HandlerRun, before: Fields): Promise<Response> => {
  const { status, statusText, headers, body } = response
  const recording = run.record(before)
  recording.begin(status, fieldsIn(headers))
  if (body === null) {
    await run.finish()
    return response
  }
  return new Response(recorded(body, run, recording, recording.limit), { status, statusText, headers })
}
