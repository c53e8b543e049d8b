import { NEWEST } from './build.js'
import { type Answer, JavaProcess } from './java-process.js'
import { JavaLock, type Kind, type Thread } from './java-lock.js'

export { NEWEST } from './build.js'
export { type Answer, JavaError, now, type Times } from './java-process.js'
export { type JavaLock, type WorkEvent } from './java-lock.js'

export interface RedissonOptions {
  readonly url?: string
  /** A configuration in YAML, instead of all below but the flags. */
  readonly file?: string
  /** Default: the newest. */
  readonly version?: string
  /** Setters of Redisson's Config and SingleServerConfig by name: `lockWatchdogTimeout`, `fairLockWaitTimeout`… */
  readonly options?: Readonly<Record<string, unknown>>
  /** Default `string`. */
  readonly codec?: 'string' | 'long' | 'json' | undefined
  /** Flags of the Java machine. */
  readonly java?: readonly string[]
}

let instances = 0

/** One Redisson instance in a Java process, which it may share with others. */
export class Redisson {
  private constructor(
    readonly process: JavaProcess,
    readonly label: string,
    /** What the owners of this instance begin with on the wire. */
    readonly id: string,
  ) {}

  static async open(java: JavaProcess, { url, file, options, codec }: RedissonOptions): Promise<Redisson> {
    const client = `c${(instances += 1)}`
    return new Redisson(java, client, await java.request<string>({ op: 'open', client, url, file, options, codec }))
  }

  get version(): string {
    return this.process.version
  }

  get pid(): number {
    return this.process.pid
  }

  /** A further instance in the same process. */
  another(options: RedissonOptions): Promise<Redisson> {
    return Redisson.open(this.process, options)
  }

  request<T>(fields: Readonly<Record<string, unknown>>, told?: (line: unknown) => void): Answer<T> {
    return this.process.request({ client: this.label, ...fields }, told)
  }

  lock(kind: Kind, name: string): JavaLock {
    return new JavaLock(this, kind, name)
  }

  plain(name: string): JavaLock {
    return this.lock('plain', name)
  }

  fair(name: string): JavaLock {
    return this.lock('fair', name)
  }

  /** The owner on the wire. */
  async owner(thread: Thread): Promise<string> {
    const id = typeof thread === 'number' ? thread : await this.process.request<number>({ op: 'thread', on: thread })
    return `${this.id}:${id}`
  }

  /** What the call of that thread waits for, it shall wait for no longer. */
  interrupt(thread: string): Answer<boolean> {
    return this.process.request({ op: 'interrupt', on: thread })
  }

  kill(): Promise<void> {
    return this.process.kill()
  }

  stop(): void {
    this.process.stop()
  }

  cont(): void {
    this.process.cont()
  }

  /** Shuts this instance down; its process goes on for the others. */
  async shutdown(): Promise<void> {
    await this.request({ op: 'close' })
  }

  /** Shuts it down and ends its process. */
  async close(): Promise<void> {
    await this.shutdown()
    await this.process.end()
  }
}

/** A Java process with one Redisson instance. Rejects with code `NO_JAVA` where there is no Java or no Maven. */
export const startRedisson = async (options: RedissonOptions): Promise<Redisson> => {
  const java = await JavaProcess.start(options.version ?? NEWEST, options.java)
  try {
    return await Redisson.open(java, options)
  } catch (error) {
    await java.kill()
    throw error
  }
}
