import { type Driver, type DriverEvents, NoReply, NotSent, type SendOptions } from '../../engine/driver.js'
import { decode } from '../../engine/memory/driver.js'
import { type Bytes, fromBytes, ReplyError, toBytes, toText } from '../../engine/memory/reply.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import type { Arg, Reply } from '../../lua/values.js'
import { Connection } from './connection.js'
import { type Command, type Fate, type Flight, type MessageFate, commandOf } from './sent-command.js'
import type { Machine } from './machine.js'
import type { World } from './world.js'

/** The server of a history, on a machine of its own. */
export interface SimServer {
  readonly machine: Machine
  readonly redis: MemoryServer
}

interface Pending extends Flight {
  readonly connection: Connection
  readonly epoch: number
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
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

/** What all processes of a history have in common. */
export interface Network {
  readonly world: World
  readonly server: SimServer
  readonly fates: Fates
  /** The name of each script by its SHA and by its text. */
  readonly scripts: ReadonlyMap<string, string>
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
  readonly #commands = new Connection(false)
  readonly #messages = new Connection(true)
  /** Nothing arrives, in either direction, and nobody is told. */
  #halfOpenUntil = 0
  /** What the server says till then arrives after it, replies and messages in any order. */
  #heldUntil = 0
  readonly #pending = new Set<Pending>()
  readonly #channels = new Set<string>()
  readonly #listener = { message: (channel: Bytes, payload: Bytes): void => this.#tell(channel, payload) }

  constructor(machine: Machine, { world, server, fates, scripts }: Network) {
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
    return this.#exchange(this.#commands, commandOf(argv, this.#scripts), () => {
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
    this.#commands.epoch++
    this.#messages.epoch++
    this.#server.redis.pubsub.leave(this.#listener)
    for (const pending of this.#pending) pending.reject(new NoReply('closed'))
    this.#pending.clear()
    return Promise.resolve()
  }

  /** The process died: the server finds its connections closed. */
  kill(): void {
    this.#closed = true
    this.#commands.epoch++
    this.#server.redis.pubsub.leave(this.#listener)
    this.#pending.clear()
  }

  /** The connection for commands is lost; what was on its way may arrive or not. */
  cut(): void {
    if (this.#closed || !this.#up) return
    this.#commands.cut()
    this.#fates.note(this.machine.name, 'connection cut')
    const lost = [...this.#pending].filter(({ connection }) => connection === this.#commands)
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
    this.#messages.cut()
    this.#server.redis.pubsub.leave(this.#listener)
    this.#fates.note(this.machine.name, 'connection for messages cut')
    for (const pending of this.#pending) {
      if (pending.connection !== this.#messages) continue
      this.#pending.delete(pending)
      this.machine.deliver(() => pending.reject(new NoReply('connection cut')))
    }
    const { epoch } = this.#messages
    this.#world.in(this.#fates.reconnect(this), () => {
      if (this.#closed || epoch !== this.#messages.epoch) return
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

  /** What comes from the server is kept back for so long, and then arrives almost at once. */
  holdBack(ms: number): void {
    this.#heldUntil = this.#world.now + ms
  }

  #leaves(): number {
    return Math.max(this.#world.now, this.#heldUntil)
  }

  get #vanish(): boolean {
    return this.#world.now < this.#halfOpenUntil
  }

  #onMessages(op: 'subscribe' | 'unsubscribe', channel: string, run: () => void): Promise<void> {
    const command = { op, again: false, keys: [], args: [channel] }
    const done = this.#exchange(this.#messages, command, () => {
      run()
      return null
    })
    return done.then(() => undefined)
  }

  #exchange(connection: Connection, command: Command, run: () => Reply | Error): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const sentAt = this.machine.time
      const { epoch, there } = connection
      const pending: Pending = { ...command, sentAt, connection, epoch, resolve, reject }
      if (this.machine.dead) return
      this.#fates.sent(this, pending)
      const fate = this.#fates.request(this, pending)
      this.#pending.add(pending)
      if (fate.fault === 'lost request') return
      this.#world.at(there.arrival(sentAt + fate.there), () => {
        this.#server.machine.deliver(() => this.#arrive(pending, fate, run))
      })
    })
  }

  #arrive(pending: Pending, fate: Fate, run: () => Reply | Error): void {
    const { connection } = pending
    const overMessages = connection === this.#messages
    const gone = pending.epoch !== connection.epoch
    if (this.#vanish || (gone && (overMessages || !fate.arrivesAnyway)) || (overMessages && this.#closed)) return
    if (fate.fault === 'cut before' || fate.fault === 'cut, executed late') {
      this.#cut(connection)
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
      this.#cut(connection)
      return
    }
    this.#world.at(connection.back.arrival(this.#leaves() + fate.back), () => {
      if (this.#vanish) return
      this.machine.deliver(() => {
        if (!this.#pending.delete(pending)) return
        if (reply instanceof Error) pending.reject(reply)
        else pending.resolve(reply)
      })
    })
  }

  #cut(connection: Connection): void {
    if (connection === this.#messages) this.cutMessages()
    else this.cut()
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
    const { epoch } = this.#messages
    const arrive = (): void => {
      if (epoch !== this.#messages.epoch || this.#vanish) return
      this.machine.deliver(() => {
        if (this.#closed || epoch !== this.#messages.epoch) return
        this.#fates.heard(this, channel)
        this.#events?.message({ kind: 'plain', name: channel, channel, payload })
      })
    }
    this.#world.at(this.#messages.back.arrival(this.#leaves() + delay), arrive)
    if (fault === 'message doubled') this.#world.at(this.#messages.back.arrival(this.#leaves() + 2 * delay + 1), arrive)
  }
}
