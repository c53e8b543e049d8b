import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { createRequire } from 'node:module'
import fastify from 'fastify'
import { Hono } from 'hono'
import { connect } from 'holdfast'
import { dashboard, type DashboardHandler, toNode } from 'holdfast/dashboard'
import { checkMounted } from './mounted.js'
import { listening } from './stage.js'

type After = (work: () => unknown) => void
/** Resolves to the address of the app, without a slash at the end. */
type Mount = (handlers: { free: DashboardHandler; fixed: DashboardHandler }, after: After) => Promise<string>

/** What is used of Express, which brings no types. */
interface ExpressPackage {
  (): RequestListener & { use(...what: unknown[]): void }
  json(): unknown
}
const packageOf = (name: string): ExpressPackage => createRequire(import.meta.url)(name) as ExpressPackage

const throughExpress =
  (name: string, parsing = false): Mount =>
  async ({ free }, after) => {
    const express = packageOf(name)
    const app = express()
    if (parsing) app.use(express.json())
    app.use('/admin/locks', toNode(free))
    return listening({ after }, app)
  }

const MOUNTS: Readonly<Record<string, Mount>> = {
  'node:http': async ({ fixed }, after) => {
    const serve = toNode(fixed)
    return listening({ after }, (request, response) => void serve(request, response))
  },
  'Express 5': throughExpress('express'),
  'Express 5, behind a parser of JSON': throughExpress('express', true),
  'Express 4': throughExpress('express4'),
  'Fastify 5': async ({ fixed }, after) => {
    const app = fastify()
    const serve = toNode(fixed)
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      scope.all('/admin/locks', (request, reply) => {
        reply.hijack()
        void serve(request.raw, reply.raw)
      })
      scope.all('/admin/locks/*', (request, reply) => {
        reply.hijack()
        void serve(request.raw, reply.raw)
      })
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    after(() => {
      app.server.closeAllConnections()
      return app.close()
    })
    return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  },
  Hono: async ({ fixed }, after) => {
    const app = new Hono().all('/admin/locks/*', (context) => fixed(context.req.raw))
    const serve = toNode(async (request) => app.fetch(request))
    return listening({ after }, (request, response) => void serve(request, response))
  },
}

void describe('the dashboard, mounted at /admin/locks', () => {
  for (const [name, mount] of Object.entries(MOUNTS)) {
    void test(name, { timeout: 60_000 }, async (t) => {
      const client = await connect('memory:')
      t.after(() => client.close())
      const handler = (path?: string) => dashboard({ client, authorize: () => 'act', path })
      const base = await mount({ free: handler(), fixed: handler('/admin/locks') }, (work) => t.after(work))
      await checkMounted(base)
    })
  }
})
