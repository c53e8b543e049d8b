import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { dashboard, type DashboardHandler, toNode } from 'holdfast/dashboard'
import { checkMounted } from '../../dashboard/mounted.js'
import { type Generation, folderOf } from './installed.js'

interface Mounted {
  readonly server: Server
  close(): unknown
}
type Mount = (
  generation: Generation,
  handlers: Readonly<Record<'free' | 'fixed', DashboardHandler>>,
) => Promise<Mounted>

/** What is installed for this generation, and not the project's own. */
const load = async <T>(generation: Generation, name: string): Promise<T> => {
  const path = createRequire(join(folderOf(generation), 'x.js')).resolve(name)
  return (await import(pathToFileURL(path).href)) as T
}

interface Nest {
  readonly NestFactory: { create(module: unknown, options: object): Promise<NestApp> }
}
interface NestApp {
  use(path: string, handler: unknown): void
  listen(port: number, host: string): Promise<Server>
  close(): Promise<void>
}

/** Nest reads the bodies of all requests before anything else does. */
const nest: Mount = async (generation, { free }) => {
  await load(generation, 'reflect-metadata')
  const { Module } = await load<{ Module(options: object): ClassDecorator }>(generation, '@nestjs/common')
  const { NestFactory } = await load<Nest>(generation, '@nestjs/core')
  class App {
    readonly name = 'app'
  }
  Module({})(App)
  const app = await NestFactory.create(App, { logger: false, abortOnError: false })
  app.use('/admin/locks', toNode(free))
  return { server: await app.listen(0, '127.0.0.1'), close: () => app.close() }
}

interface FastifyScope {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void
  all(
    url: string,
    handler: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): void }) => void,
  ): void
}
interface FastifyApp {
  readonly server: Server
  register(plugin: (scope: FastifyScope) => Promise<void>): Promise<unknown>
  listen(options: object): Promise<string>
  close(): Promise<void>
}

const fastify: Mount = async (generation, { fixed }) => {
  const { default: make } = await load<{ default: () => FastifyApp }>(generation, 'fastify')
  const app = make()
  const serve = toNode(fixed)
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const url of ['/admin/locks', '/admin/locks/*'])
      scope.all(url, (request, reply) => {
        reply.hijack()
        void serve(request.raw, reply.raw)
      })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { server: app.server, close: () => app.close() }
}

interface Hono {
  readonly fetch: unknown
  all(path: string, handler: (context: { req: { raw: Request } }) => Promise<Response>): Hono
}

const hono: Mount = async (generation, { fixed }) => {
  const { Hono } = await load<{ Hono: new () => Hono }>(generation, 'hono')
  const { serve } = await load<{ serve(options: object): Server }>(generation, '@hono/node-server')
  const app = new Hono().all('/admin/locks/*', (context) => fixed(context.req.raw))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  return { server, close: () => server.close() }
}

for (const [name, generation, mount] of [
  ['Nest 10', 'oldest', nest],
  ['Nest 12', 'newest', nest],
  ['Fastify 4', 'oldest', fastify],
  ['Hono on its server for Node', 'newest', hono],
] as const)
  void test(`the dashboard in ${name}`, { timeout: 60_000 }, async (t) => {
    const client = await connect('memory:')
    t.after(() => client.close())
    const handler = (path?: string) => dashboard({ client, authorize: () => 'act', path })
    const app = await mount(generation, { free: handler(), fixed: handler('/admin/locks') })
    t.after(() => {
      app.server.closeAllConnections()
      return app.close()
    })
    const { port } = app.server.address() as AddressInfo
    assert.ok(port > 0)
    await checkMounted(`http://127.0.0.1:${port}`)
  })
