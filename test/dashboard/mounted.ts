import assert from 'node:assert/strict'

const first = async (body: ReadableStream<Uint8Array> | null): Promise<string> => {
  let text = ''
  for await (const chunk of body ?? assert.fail()) {
    text += Buffer.from(chunk).toString()
    if (text.includes('event: snapshot')) return text
  }
  return assert.fail('the stream ended')
}

/** A dashboard that is mounted at `/admin/locks`, as a browser and an intruder meet it. `base` has no slash at the end. */
export const checkMounted = async (base: string): Promise<void> => {
  const statusOf = async (path: string, init: RequestInit = {}) =>
    (await fetch(base + path, { redirect: 'manual', ...init })).status

  const away = await fetch(`${base}/admin/locks`, { redirect: 'manual' })
  assert.equal(away.status, 302)
  assert.equal(new URL(away.headers.get('location') ?? '', away.url).pathname, '/admin/locks/')
  const page = await fetch(`${base}/admin/locks/`)
  assert.match(await page.text(), /src="app\.js"/)
  assert.equal(await statusOf('/admin/locks/app.js'), 200)
  assert.equal(await statusOf('/admin/locks/state'), 200)
  for (const path of ['/x', '/x/app.js', '//app.js', '/%2e%2e%2fapp.js', '/app.js%00', '/__proto__', '/;/app.js'])
    assert.equal(await statusOf(`/admin/locks${path}`), 404, path)

  const stream = await fetch(`${base}/admin/locks/events`)
  assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(await first(stream.body), /event: snapshot\ndata: \{/)

  const release = (headers: Record<string, string>, body = JSON.stringify({ lock: 'deploy', owner: 'nobody' })) =>
    statusOf('/admin/locks/release', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    })
  assert.equal(await release({ 'Sec-Fetch-Site': 'cross-site' }), 403)
  assert.equal(await release({ 'Sec-Fetch-Site': 'same-origin' }), 409)
  assert.equal(await release({ 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'text/plain' }), 415)
  // What stands before it may refuse it earlier, and then it may close the connection while the body is on its way.
  const long = release({ 'Sec-Fetch-Site': 'same-origin' }, JSON.stringify({ lock: 'x'.repeat(1_000_000) }))
  assert.equal(await long.catch(() => 413), 413)
}
