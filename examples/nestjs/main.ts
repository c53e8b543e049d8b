/**
 * A shop on NestJS: payments under a lock, a job that one of all processes runs, a leader, a limit and a health check.
 *
 *     HOLDFAST_URL=redis://localhost:6379 PORT=8080 node main.js
 */
import 'reflect-metadata'
import { setTimeout as sleep } from 'node:timers/promises'
import { Controller, Get, Header, Inject, Injectable, Module, Param, Post, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Cron, ScheduleModule } from '@nestjs/schedule'
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus'
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import type { Client, Term } from 'holdfast'
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
class Orders {
  readonly #paid = new Set<string>()
  paying = 0
  most = 0

  /** At most one process pays an order at a time. */
  @Locked((order: Order) => `order:${order.id}`, { wait: 10_000 })
  async pay(order: Order, by: string): Promise<string> {
    this.most = Math.max(this.most, ++this.paying)
    await sleep(20, undefined, { signal: currentHold().signal })
    this.paying--
    this.#paid.add(order.id)
    return `${order.id} paid by ${by}`
  }
}

@Injectable()
class Jobs {
  readonly slots: string[] = []
  leading = false

  /** Every process fires each second; one of them runs. */
  @Cron('* * * * * *', { timeZone: 'UTC' })
  @RunOnce('tick')
  async tick(): Promise<void> {
    this.slots.push(currentRun().slot)
  }

  @Leader('poller', { lease: 10_000 })
  async lead({ signal }: Term): Promise<void> {
    this.leading = true
    while (!signal.aborted) await sleep(1000, undefined, { signal }).catch(() => undefined)
    this.leading = false
  }
}

@Controller()
class Shop {
  constructor(
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Jobs) private readonly jobs: Jobs,
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @InjectHoldfast() private readonly client: Client,
  ) {}

  @Post('orders/:id')
  pay(@Param('id') id: string): Promise<string> {
    return this.orders.pay({ id }, String(process.pid))
  }

  /** A route may be locked itself. */
  @Get('locked/:id')
  @Header('x-locked', 'yes')
  @Locked((id: string) => `locked:${id}`)
  async locked(@Param('id') id: string): Promise<string> {
    return `${id} by ${currentHold().name}`
  }

  @Get('limited')
  @UseGuards(ThrottlerGuard)
  limited(): string {
    return 'in'
  }

  @Get('stats')
  stats() {
    return { most: this.orders.most, slots: this.jobs.slots, leading: this.jobs.leading }
  }

  @Get('health')
  @HealthCheck()
  check() {
    return this.health.check([holdfastIndicator(this.client, { throws: process.env['TERMINUS'] === '10' })])
  }
}

@Module({
  imports: [
    HoldfastModule.forRootAsync({
      isGlobal: true,
      useFactory: () => ({ connect: process.env['HOLDFAST_URL'] ?? 'memory:', drain: 2000 }),
    }),
    ThrottlerModule.forRootAsync({
      inject: [getHoldfastToken()],
      useFactory: (client: Client) => ({
        throttlers: [{ ttl: 60_000, limit: 5 }],
        storage: throttlerStorage({ client }),
      }),
    }),
    ScheduleModule.forRoot(),
    TerminusModule,
  ],
  controllers: [Shop],
  providers: [Orders, Jobs],
})
class App {}

const app = await NestFactory.create(App, { logger: ['error', 'warn'], abortOnError: false })
app.enableShutdownHooks()
await app.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1')
console.log(await app.getUrl())
