import { ConfigurableModuleBuilder, type DynamicModule, Module, type Provider } from '@nestjs/common'
import { DiscoveryModule, DiscoveryService } from '@nestjs/core'
import type { Client } from '../api/client.js'
import { type AppClientOptions, APP_DRAIN, appClient, checkAppClient } from '../app-client.js'
import { type Discovery, Lifecycle } from './lifecycle.js'
import { getHoldfastToken } from './token.js'

/** Options of `HoldfastModule.forRoot`. */
export type HoldfastModuleOptions = AppClientOptions

/** What is beside the options, also in `forRootAsync`. */
export interface HoldfastModuleExtras {
  /** The name of the client, for `@InjectHoldfast(name)`. Default: none. */
  name?: string | undefined
  /** Every module can inject the client without importing this one. Default false. */
  isGlobal?: boolean | undefined
}

const OPTIONS = 'HOLDFAST_OPTIONS'
const LIFECYCLE = 'HOLDFAST_LIFECYCLE'

/** The clients that the module opened. A test may put another one in their place. */
const OPENED = new WeakSet<Client>()

const checked = (options: HoldfastModuleOptions | undefined): HoldfastModuleOptions =>
  checkAppClient(options, ['name', 'isGlobal'])

const opened = (options: HoldfastModuleOptions | undefined): Promise<Client> =>
  appClient(checked(options), (own) => OPENED.add(own))

const providersFor = (name: string | undefined): Provider[] => [
  { provide: getHoldfastToken(name), useFactory: opened, inject: [OPTIONS] },
  {
    provide: LIFECYCLE,
    useFactory: (client: Client, options: HoldfastModuleOptions, discovery: Discovery) =>
      new Lifecycle({
        client,
        name,
        discovery,
        drain: options.drain ?? APP_DRAIN,
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
