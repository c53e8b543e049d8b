import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../api/client.js'
import type { FencedHold, Hold } from '../api/hold.js'
import { type AppClientOptions, APP_DRAIN, appClient, checkAppClient } from '../app-client.js'
import { type RequestLockOptions, RequestLocks } from './request-locks.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The client that `holdfast/fastify` connected. It closes with the app. */
    readonly holdfast: Client
  }
  interface FastifyRequest {
    /** Acquires a fenced lock for this request, as the other call does. */
    lock(name: string, options: RequestLockOptions & { kind: 'fencedLock' }): Promise<FencedHold>
    /**
     * Acquires a lock for this request, which is released when the request is answered. If the requester leaves, a wait ends with an `AbortError`; what is held
     * stays until the handler has answered.
     */
    lock(name: string, options?: RequestLockOptions): Promise<Hold>
  }
}

/** Options of the plugin: `app.register(holdfast, options)`. */
export type HoldfastPluginOptions = AppClientOptions

/** An asynchronous handler has ended. If its requester has left, and it returns nothing, Fastify 5 calls no hook. */
const HANDLED = 'tracing:fastify.request.handler:asyncEnd'

/** How an operator reads the owner of a lock. */
const labelOf = ({ method, routeOptions }: FastifyRequest): string => {
  // Fastify before 4.10 has no such field.
  const url = (routeOptions as { url?: string } | undefined)?.url
  return url === undefined ? method : `${method} ${url}`
}

/** `request.lock`, on these replies. */
const lockRequests = (app: FastifyInstance, client: Client): void => {
  const replies = new WeakMap<FastifyRequest, FastifyReply>()
  const locks = new WeakMap<FastifyRequest, RequestLocks>()
  const locksOf = (request: FastifyRequest): RequestLocks => {
    const reply = replies.get(request)
    if (reply === undefined)
      throw new Error('request.lock() comes behind the onRequest hook of holdfast/fastify: register the plugin earlier')
    const known = locks.get(request) ?? new RequestLocks(client, labelOf(request), reply)
    locks.set(request, known)
    return known
  }
  app.decorateRequest('lock', async function (this: FastifyRequest, name: string, options?: RequestLockOptions) {
    return locksOf(this).acquire(name, options)
  } as FastifyRequest['lock'])
  app.addHook('onRequest', (request, reply, done) => {
    replies.set(request, reply)
    done()
  })
  app.addHook('onSend', async (request, _reply, payload) => {
    await locks.get(request)?.answered(payload)
  })
  const handled = (message: unknown): void => locks.get((message as { request: FastifyRequest }).request)?.handled()
  subscribe(HANDLED, handled)
  app.addHook('onClose', (_app, done) => {
    unsubscribe(HANDLED, handled)
    done()
  })
}

/**
 * A plugin that gives your app a client, as `app.holdfast`, and locks for the time of a request, as `request.lock(name)`:
 * `app.register(holdfast, { connect: 'redis://localhost:6379' })`. For Fastify 4 and 5.
 */
export const holdfast: FastifyPluginAsync<HoldfastPluginOptions> = async (app, options) => {
  const { drain = APP_DRAIN, ...which } = checkAppClient(options)
  if (app.hasDecorator('holdfast')) throw new Error('holdfast/fastify is registered already')
  const client = await appClient(which, (own) => {
    app.addHook('onClose', () => own.close({ drain }))
  })
  app.decorate('holdfast', client)
  lockRequests(app, client)
}

/** As `fastify-plugin` marks a plugin: what it adds is seen by the whole app, and others may depend on it by its name. */
Object.assign(holdfast, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'holdfast',
  [Symbol.for('plugin-meta')]: { name: 'holdfast', fastify: '4.x || 5.x' },
})
