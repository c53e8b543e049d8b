import { type Driver, type DriverEvents, NoReply, NotSent, type SendOptions } from '../../engine/engine.js'
import { decode } from '../../engine/memory/driver.js'
import { type Bytes, fromBytes, ReplyError, toBytes, toText } from '../../engine/memory/reply.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import type { Fate, Flight, MessageFate } from './fates.js'
import type { Machine } from './machine.js'
import type { World } from './world.js'
import type { Arg, Reply } from '../../lua/values.js'

/** The server of a history, on a machine of its own. */
export interface SimServer {
  readonly machine: Machine
  readonly redis: MemoryServer
}

interface Pending extends Flight {
  readonly epoch: number
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

/** What is sent in one direction of a connection arrives in order. */
class Line {
  #last = 0

  arrival(moment: number): number {
    return (this.#last = Math.max(this.#last, moment))
  }
}

/** Who decides what goes wrong, and who watches. */
export interface Fates {
  request(driver: SimDriver, flight: Flight): Fate
  message(driver: SimDriver): MessageFate
  /** How long until a lost connection is there again. */
  reconnect(driver: SimDriver): number
  sent(driver: SimDriver, flight: Flight): void
  /** About to run on the server. */
  executing(driver: SimDriver, flight: Flight): void
  executed(driver: SimDriver, flight: Flight, reply: Reply | Error): void
  heard(driver: SimDriver, channel: string): void
  note(who: string, text: string): void
}

/** The two connections of one process, for commands and for messages, over a network that does as it is told. */
export class SimDriver implements Driver {
  readonly address = 'redis://simulated'
  readonly cluster = false
  readonly machine: Machine
  readonly #world: World
  readonly #server: SimServer
  readonly #fates: Fates
  readonly #scripts: ReadonlyMap<string, string>
  #events: DriverEvents | undefined
  #session
  #up = false
  #closed = false
  #epoch = 0
  #messageEpoch = 0
  /** Nothing arrives, in either direction, and nobody is told. */
  #halfOpenUntil = 0
  #there = new Line()
  #back = new Line()
  #told = new Line()
  readonly #pending = new Set<Pending>()
  readonly #channels = new Set<string>()
  readonly #listener = { message: (channel: Bytes, payload: Bytes): void => this.#tell(channel, payload) }

  constructor(world: World, machine: Machine, server: SimServer, fates: Fates, scripts: ReadonlyMap<string, string>) {
    this.#world = world
    this.machine = machine
    this.#server = server
    this.#fates = fates
    this.#scripts = scripts
    this.#session = server.redis.connect()
  }

  get isUp(): boolean {
    return this.#up && !this.#closed
  }

  /** What is on its way; what was sent before is given up by now. */
  flights(since: number): Flight[] {
    return [...this.#pending].filter(({ sentAt }) => sentAt >= since)
  }

  open(events: DriverEvents): Promise<void> {
    this.#events = events
    return new Promise((resolve) => {
      this.#world.in(0.3, () => {
        this.machine.deliver(() => {
          this.#up = true
          events.up(false)
          resolve()
        })
      })
    })
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    const words = argv.map(toBytes)
    return this.#exchange(this.#describe(argv), this.#there, () => {
      const reply = this.#server.redis.execute(words, this.#session)
      return reply instanceof ReplyError ? new Error(toText(reply.message)) : decode(reply, options?.binary === true)
    })
  }

  subscribe(channel: string): Promise<void> {
    if (this.#closed) return Promise.reject(new NotSent('closed'))
    this.#channels.add(channel)
    return this.#onMessages('subscribe', channel, () => {
      this.#server.redis.pubsub.subscribe(this.#listener, toBytes(channel), 'plain')
    })
  }

  unsubscribe(channel: string): Promise<void> {
    this.#channels.delete(channel)
    if (this.#closed) return Promise.resolve()
    return this.#onMessages('unsubscribe', channel, () => {
      this.#server.redis.pubsub.unsubscribe(this.#listener, toBytes(channel), 'plain')
    })
  }

  close(): Promise<void> {
    this.#closed = true
    this.#epoch++
    this.#messageEpoch++
    this.#server.redis.pubsub.leave(this.#listener)
    for (const pending of this.#pending) pending.reject(new NoReply('closed'))
    this.#pending.clear()
    return Promise.resolve()
  }

  /** The process died: the server finds its connections closed. */
  kill(): void {
    this.#closed = true
    this.#epoch++
    this.#server.redis.pubsub.leave(this.#listener)
    this.#pending.clear()
  }

  /** The connection for commands is lost; what was on its way may arrive or not. */
  cut(): void {
    if (this.#closed || !this.#up) return
    this.#epoch++
    this.#there = new Line()
    this.#back = new Line()
    this.#fates.note(this.machine.name, 'connection cut')
    const lost = [...this.#pending].filter(({ op }) => op !== 'subscribe' && op !== 'unsubscribe')
    for (const pending of lost) this.#pending.delete(pending)
    this.#up = false
    this.machine.deliver(() => {
      for (const pending of lost) pending.reject(new NoReply('connection cut'))
      this.#events?.down(new Error('connection cut'))
    })
    this.#world.in(this.#fates.reconnect(this), () => {
      this.machine.deliver(() => {
        if (this.#closed) return
        this.#session = this.#server.redis.connect()
        this.#up = true
        this.#fates.note(this.machine.name, 'connected again')
        this.#events?.up(true)
      })
    })
  }

  /** The connection for messages is lost: nothing is heard until it is there again and all is subscribed anew. */
  cutMessages(): void {
    if (this.#closed) return
    this.#messageEpoch++
    this.#told = new Line()
    this.#server.redis.pubsub.leave(this.#listener)
    this.#fates.note(this.machine.name, 'connection for messages cut')
    for (const pending of this.#pending) {
      if (pending.op !== 'subscribe' && pending.op !== 'unsubscribe') continue
      this.#pending.delete(pending)
      this.machine.deliver(() => pending.reject(new NoReply('connection cut')))
    }
    const epoch = this.#messageEpoch
    this.#world.in(this.#fates.reconnect(this), () => {
      if (this.#closed || epoch !== this.#messageEpoch) return
      for (const channel of this.#channels) {
        this.#server.redis.pubsub.subscribe(this.#listener, toBytes(channel), 'plain')
      }
      this.machine.deliver(() => {
        if (this.#closed) return
        this.#fates.note(this.machine.name, 'subscribed again')
        this.#events?.gap()
      })
    })
  }

  /** Packets vanish for so long; then both connections turn out to be lost. */
  halfOpen(ms: number): void {
    this.#halfOpenUntil = this.#world.now + ms
    this.#world.in(ms, () => {
      this.cut()
      this.cutMessages()
    })
  }

  get #vanish(): boolean {
    return this.#world.now < this.#halfOpenUntil
  }

  #describe(argv: readonly Arg[]): Omit<Flight, 'sentAt'> {
    const [command, script, count] = argv as [string, string, number]
    if (command !== 'EVALSHA' && command !== 'EVAL') {
      return { op: command.toLowerCase(), again: false, keys: [], args: argv.slice(1) }
    }
    return {
      op: this.#scripts.get(script) ?? 'unknown script',
      again: command === 'EVAL',
      keys: argv.slice(3, 3 + count) as string[],
      args: argv.slice(3 + count),
    }
  }

  #onMessages(op: 'subscribe' | 'unsubscribe', channel: string, run: () => void): Promise<void> {
    const described = { op, again: false, keys: [], args: [channel] }
    const done = this.#exchange(described, this.#told, () => {
      run()
      return null
    })
    return done.then(() => undefined)
  }

  #exchange(described: Omit<Flight, 'sentAt'>, line: Line, run: () => Reply | Error): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sentAt = this.machine.time
      const epoch = this.#epochOf(described.op)
      const pending: Pending = { ...described, sentAt, epoch, resolve, reject }
      if (this.machine.dead) return
      this.#fates.sent(this, pending)
      const fate = this.#fates.request(this, pending)
      this.#pending.add(pending)
      if (fate.fault === 'lost request') return
      this.#world.at(line.arrival(sentAt + fate.there), () => {
        this.#server.machine.deliver(() => this.#arrive(pending, fate, run))
      })
    })
  }

  #epochOf(op: string): number {
    return op === 'subscribe' || op === 'unsubscribe' ? this.#messageEpoch : this.#epoch
  }

  #arrive(pending: Pending, fate: Fate, run: () => Reply | Error): void {
    const overMessages = pending.op === 'subscribe' || pending.op === 'unsubscribe'
    const gone = pending.epoch !== this.#epochOf(pending.op)
    if (this.#vanish || (gone && (overMessages || !fate.arrivesAnyway)) || (overMessages && this.#closed)) return
    if (fate.fault === 'cut before' || fate.fault === 'cut, executed late') {
      if (overMessages) this.cutMessages()
      else this.cut()
      // What stayed behind in some buffer.
      if (fate.fault === 'cut, executed late') {
        this.#world.in(fate.back, () => this.#server.machine.deliver(() => this.#execute(pending, run)))
      }
      return
    }
    if (fate.fault === 'scripts flushed') this.#server.redis.scripts.flush()
    const reply = fate.fault === 'refused' ? new Error(fate.refusal) : this.#execute(pending, run)
    if (gone || fate.fault === 'lost reply') return
    if (fate.fault === 'cut after') {
      if (overMessages) this.cutMessages()
      else this.cut()
      return
    }
    const line = overMessages ? this.#told : this.#back
    this.#world.at(line.arrival(this.#world.now + fate.back), () => {
      if (this.#vanish) return
      this.machine.deliver(() => {
        if (!this.#pending.delete(pending)) return
        if (reply instanceof Error) pending.reject(reply)
        else pending.resolve(reply)
      })
    })
  }

  #execute(pending: Pending, run: () => Reply | Error): Reply | Error {
    this.#fates.executing(this, pending)
    const reply = run()
    this.#fates.executed(this, pending, reply)
    return reply
  }

  /** A message leaves the server for this process. */
  #tell(channelBytes: Bytes, payloadBytes: Bytes): void {
    const [channel, payload] = [toText(channelBytes), fromBytes(payloadBytes)]
    const { delay, fault } = this.#fates.message(this)
    if (fault === 'message lost') return
    const epoch = this.#messageEpoch
    const arrive = (): void => {
      if (epoch !== this.#messageEpoch || this.#vanish) return
      this.machine.deliver(() => {
        if (this.#closed || epoch !== this.#messageEpoch) return
        this.#fates.heard(this, channel)
        this.#events?.message({ kind: 'plain', name: channel, channel, payload })
      })
    }
    this.#world.at(this.#told.arrival(this.#world.now + delay), arrive)
    if (fault === 'message doubled') this.#world.at(this.#told.arrival(this.#world.now + 2 * delay + 1), arrive)
  }
}
