import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumProgram } from '../../scripts/test/chromium.mjs'
import { hasNginx } from '../../scripts/test/nginx.mjs'
import { type Broken, onServer } from '../support/server.js'
import { until } from '../support/until.js'
import { served } from './stage.js'

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const configOf = (folder: string, port: number, upstream: string, lines: readonly string[]): string => `daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location /ops/locks/ {
      proxy_pass ${upstream};
      ${lines.join('\n      ')}
    }
  }
}
`

/** nginx in front of the dashboard, at `/ops/locks/`; resolves to that address. */
const proxied = async (broken: Broken, upstream: string, lines: readonly string[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-nginx-'))
  const port = await freePort()
  writeFileSync(join(folder, 'nginx.conf'), configOf(folder, port, upstream, lines))
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  broken.after(async () => {
    const gone = once(child, 'exit')
    if (child.exitCode === null && child.kill('SIGTERM')) await gone
    rmSync(folder, { recursive: true, force: true })
  })
  const base = `http://127.0.0.1:${port}/ops/locks/`
  await until(async () => (await fetch(base).catch(() => undefined))?.ok === true)
  return base
}

const HOST = 'proxy_set_header Host $http_host;'

let browser: Browser
const look = async (broken: Broken, url: string): Promise<Page> => {
  const page = await browser.newPage()
  broken.after(() => page.close())
  await page.goto(url)
  return page
}

const program = chromiumProgram()
const lacks = !hasNginx() ? 'no nginx on the PATH' : program === undefined && 'no chromium on the PATH'

void describe('the dashboard behind nginx, which takes away a prefix', { skip: lacks }, () => {
  before(async () => {
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: program ?? '', args })
  })
  after(() => browser.close())

  onServer('the page is live, and releases a lock', async (broken) => {
    const base = await proxied(broken, await served(broken, { authorize: () => 'act' }), [HOST])
    const holder = await broken.open({ label: 'web-1' })
    await holder.lock('deploy').acquire()
    const page = await look(broken, base)
    await page.getByRole('link', { name: 'deploy', exact: true }).click()
    assert.equal(await page.getByRole('status').first().textContent(), 'live')
    await page.getByRole('button', { name: 'Release…' }).click()
    await page.getByRole('textbox').fill('deploy')
    await page.getByRole('button', { name: 'Release it' }).click()
    await page.getByText('What web-1 held is released.').waitFor()
    assert.equal(await holder.lock('deploy').isLocked(), false)
  })

  onServer('a proxy that holds back the stream: the page polls, and shows what is new', async (broken) => {
    const buffered = [HOST, 'proxy_buffering on;', 'proxy_ignore_headers X-Accel-Buffering;', 'proxy_buffers 8 64k;']
    const base = await proxied(broken, await served(broken), [
      ...buffered,
      'gzip on;',
      'gzip_types text/event-stream;',
      'gzip_min_length 0;',
      'gzip_proxied any;',
    ])
    const holder = await broken.open({ label: 'web-1' })
    const page = await look(broken, base)
    await page.getByText('Nothing is locked').waitFor({ timeout: 20_000 })
    await holder.lock('deploy').acquire()
    await page.getByRole('link', { name: 'deploy', exact: true }).waitFor({ timeout: 20_000 })
  })

  onServer('another site behind the same proxy is refused', async (broken) => {
    const base = await proxied(broken, await served(broken, { authorize: () => 'act' }), [HOST])
    const post = (headers: Record<string, string>) =>
      fetch(`${base}release`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: '{"lock":"a","owner":"b"}',
      })
    assert.equal((await post({ Origin: 'http://evil.example' })).status, 403)
    assert.equal((await post({ 'Sec-Fetch-Site': 'cross-site', Origin: new URL(base).origin })).status, 403)
    assert.equal((await post({ Origin: new URL(base).origin })).status, 409)
  })
})
