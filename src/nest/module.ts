import { ConfigurableModuleBuilder, type DynamicModule, Module, type Provider } from '@nestjs/common'
import { DiscoveryModule, DiscoveryService } from '@nestjs/core'
import type { Client } from '../api/client.js'
import { checkOptions, checkWait } from '../check-options.js'
import type { ClientOptions } from '../config/client-options.js'
import { connect } from '../connect.js'
import { type Discovery, Lifecycle } from './lifecycle.js'
import { getHoldfastToken } from './token.js'

/** Options of `HoldfastModule.forRoot`. */
export interface HoldfastModuleOptions {
  /** What `connect` gets: a URL or its options. Default: `HOLDFAST_URL`, else `REDIS_URL`. */
  readonly connect?: string | URL | ClientOptions | undefined
  /** Your own client instead. The module does not close it. */
  readonly client?: Client | undefined
  /** At shutdown, running work has this many ms to end. Default 5000. */
  readonly drain?: number | undefined
}

/** What is beside the options, also in `forRootAsync`. */
export interface HoldfastModuleExtras {
  /** The name of the client, for `@InjectHoldfast(name)`. Default: none. */
  name?: string | undefined
  /** Every module can inject the client without importing this one. */
  isGlobal?: boolean | undefined
}

const OPTIONS = 'HOLDFAST_OPTIONS'
const LIFECYCLE = 'HOLDFAST_LIFECYCLE'
const DRAIN = 5000

/** The clients that the module opened. A test may put another one in their place. */
const OPENED = new WeakSet<Client>()

const checked = (options: HoldfastModuleOptions | undefined): HoldfastModuleOptions => {
  const read = checkOptions(options, ['connect', 'client', 'drain', 'name', 'isGlobal']) as HoldfastModuleOptions
  if (read.drain !== undefined) checkWait(read.drain, 'drain')
  if (read.client !== undefined && read.connect !== undefined)
    throw new TypeError('connect and client exclude one another')
  return read
}

const opened = async (options: HoldfastModuleOptions | undefined): Promise<Client> => {
  const { connect: to, client } = checked(options)
  if (client !== undefined) return client
  const own = await connect(to)
  OPENED.add(own)
  return own
}

const providersFor = (name: string | undefined): Provider[] => [
  { provide: getHoldfastToken(name), useFactory: opened, inject: [OPTIONS] },
  {
    provide: LIFECYCLE,
    useFactory: (client: Client, options: HoldfastModuleOptions, discovery: Discovery) =>
      new Lifecycle({
        client,
        name,
        discovery,
        drain: options.drain ?? DRAIN,
        isOwn: options.client === undefined && OPENED.has(client),
      }),
    inject: [getHoldfastToken(name), OPTIONS, DiscoveryService],
  },
]

const extended = (definition: DynamicModule, { name, isGlobal }: HoldfastModuleExtras): DynamicModule => ({
  ...definition,
  global: isGlobal === true,
  imports: [...(definition.imports ?? []), DiscoveryModule],
  providers: [...(definition.providers ?? []), ...providersFor(name)],
  exports: [getHoldfastToken(name)],
})

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<HoldfastModuleOptions>({
  optionsInjectionToken: OPTIONS,
})
  .setExtras<HoldfastModuleExtras>({ name: undefined, isGlobal: false }, extended)
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createHoldfastOptions')
  .build()

/**
 * Connects a client when the app starts, and closes it with the app: `HoldfastModule.forRoot({ connect: 'redis://localhost:6379', isGlobal: true })`, or
 * `forRootAsync({ useFactory, inject, imports })`. Call `app.enableShutdownHooks()`, so that signals close the app.
 */
export class HoldfastModule extends ConfigurableModuleClass {
  /** Throws a TypeError for wrong options. */
  static override forRoot(options: HoldfastModuleOptions & HoldfastModuleExtras): DynamicModule {
    checked(options)
    return super.forRoot(options)
  }
}
Module({})(HoldfastModule)
