// Compiled against the packed tarball and Nest's own types; never run.
import 'reflect-metadata'
import { Injectable, Module } from '@nestjs/common'
import { type Client, connect, type Term } from 'holdfast'
import {
  currentHold,
  currentRun,
  getHoldfastToken,
  holdfastIndicator,
  HoldfastModule,
  InjectHoldfast,
  Leader,
  Locked,
  RunOnce,
} from 'holdfast/nest'
import { throttlerStorage } from 'holdfast/stores'

interface Order {
  readonly id: string
}

@Injectable()
export class Orders {
  constructor(
    @InjectHoldfast() readonly client: Client,
    @InjectHoldfast('other') readonly other: Client,
  ) {}

  @Locked((order: Order) => `order:${order.id}`, { kind: 'fairLock', wait: 1000 })
  async pay(order: Order, amount: number): Promise<string> {
    currentHold().signal.throwIfAborted()
    return `${order.id} ${amount}`
  }

  @Locked('all')
  async all(): Promise<void> {}

  @Locked('whatever', { kind: 'write', client: 'other' })
  async whatever(order: Order, amount: number): Promise<number> {
    return amount + order.id.length
  }

  // @ts-expect-error the method has no such parameter
  @Locked((order: Order) => order.id)
  async wrong(id: number): Promise<number> {
    return id
  }

  // @ts-expect-error it returns no promise
  @Locked('now')
  now(): number {
    return 1
  }

  @RunOnce('nightly', { cron: '0 2 * * *', timezone: 'Europe/Berlin' })
  async nightly(): Promise<string> {
    return currentRun().slot
  }

  @Leader('poller', { lease: 10_000, value: 'here' })
  async lead({ signal }: Term): Promise<void> {
    signal.throwIfAborted()
  }
}

const client = await connect('memory:')
// @nestjs/throttler's own types do not compile beside Nest 12 without skipLibCheck.
export const storage: {
  increment(key: string, ttl: number, limit: number, block: number, name: string): Promise<{ totalHits: number }>
} = throttlerStorage({ client })
export const token: string = getHoldfastToken('other')
export const healthy: Promise<Record<string, { status: string }>> = holdfastIndicator(client, { key: 'redis' })()

@Module({
  imports: [
    HoldfastModule.forRoot({ connect: 'redis://localhost:6379', isGlobal: true }),
    HoldfastModule.forRoot({ client, name: 'other' }),
    HoldfastModule.forRootAsync({
      name: 'third',
      useFactory: async (url: string) => ({ connect: url }),
      inject: ['URL'],
    }),
  ],
  providers: [Orders],
})
export class App {}
