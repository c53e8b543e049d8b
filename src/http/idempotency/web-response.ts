import type { Fields, Recording } from './recording.js'
import type { Run } from './run.js'

type Source = ReadableStreamDefaultReader<Uint8Array>

export const fieldsIn = (headers: Headers): Fields => {
  const fields = new Map<string, readonly string[]>()
  for (const [name, value] of headers) fields.set(name, [value])
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) fields.set('set-cookie', cookies)
  return fields
}

/** The handler's answer goes on being recorded when its requester has left: a retry gets it. */
const drain = async (source: Source, run: Run, recording: Recording): Promise<void> => {
  while (!recording.isTooLarge) {
    const { done, value } = await source.read()
    if (done) break
    recording.add(value)
  }
  await run.finish()
  await source.cancel()
}

/** The same stream, recorded. It ends when its answer is kept. It is read ahead, so that a slow requester does not keep the key claimed. */
const recorded = (body: ReadableStream<Uint8Array>, run: Run, recording: Recording, ahead: number) => {
  const source = body.getReader()
  const failed = (error: unknown): never => {
    run.fail()
    throw error
  }
  let left = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.read().catch(failed)
        if (done) await run.finish()
        else recording.add(value)
        if (left) return
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel() {
        left = true
        void drain(source, run, recording).catch(() => run.fail())
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: ahead }),
  )
}

/** Records a response of the web's kind; returns the one to send. */
export const recordedResponse = async (response: Response, run: Run, before: Fields): Promise<Response> => {
  const { status, statusText, headers, body } = response
  const recording = run.record(before)
  recording.begin(status, fieldsIn(headers))
  if (body === null) {
    await run.finish()
    return response
  }
  return new Response(recorded(body, run, recording, recording.limit), { status, statusText, headers })
}
