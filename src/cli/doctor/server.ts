import { EngineError, type EngineErrorCode } from '../../errors.js'
import type { Node, Probe } from '../../probe.js'
import { isA } from '../../thrown.js'
import { shellWord } from '../text/shell-word.js'
import type { Finding } from './finding.js'

/** How many pings. */
const PINGS = 20

/** ms. */
export interface Latency {
  readonly min: number
  readonly median: number
  readonly max: number
}

/** What one master says about itself. */
export interface Server {
  readonly node: Node
  /** For people. */
  readonly name: string
  /** The command that reaches it, as far as that is known. */
  readonly cli: string
  /** By the fields of INFO; empty if it refused. */
  readonly info: ReadonlyMap<string, string>
  /** The settings that this user may read. */
  readonly config: ReadonlyMap<string, string>
  /** How many ms its clock is ahead of this machine's. */
  readonly clockOff?: number | undefined
  readonly latency?: Latency | undefined
  /** It gave no answer, so nothing is known about it. */
  readonly away?: true
  /** Its refusals; or that it gave no answer. */
  readonly refused: readonly Finding[]
}

/** `host:port`, also of IPv6. */
const HOST_PORT = /^\[?(.+?)\]?:(\d+)$/

/** How redis-cli reaches the server. If that is not known, a host to fill in: without one, the command would change the server of this machine. */
export const cliOf = (address: string, node: Node): string => {
  const tls = /^(?:redis|valkey)s\b/.test(address) ? ' --tls' : ''
  const [, host, port] = HOST_PORT.exec(node ?? '') ?? []
  if (host !== undefined && port !== undefined) return `redis-cli -h ${shellWord(host)} -p ${port}${tls}`
  const socket = /^redis\+unix:\/\/(\/[^?]+)/.exec(address)?.[1]
  if (socket !== undefined) return `redis-cli -s ${shellWord(socket)}`
  // redis-cli does not know valkey: URLs.
  const single = /^(?:redis|valkey)(s?:.*)$/.exec(address)?.[1]
  if (single !== undefined) return `redis-cli -u ${shellWord(`redis${single}`)}`
  return `redis-cli -h 'HOST OF THE MASTER'${tls}`
}

/** Nobody answered, or it is the connection that was refused: then there is nothing to examine. */
const NO_ANSWER: readonly EngineErrorCode[] = ['OFFLINE', 'NO_REPLY', 'BAD_REPLY', 'NOAUTH', 'WRONGPASS']

/** Whether the server answered, and refused this question. */
export const isRefusal = (error: unknown): error is EngineError =>
  isA(error, EngineError) && !NO_ANSWER.includes(error.code)

/** One of several masters that cannot be reached. */
export const awayServer = (probe: Probe, node: Node, error: EngineError): Server => {
  const [name, cli] = [node ?? probe.address, cliOf(probe.address, node)]
  const what = `this master of the cluster does not answer: ${error.message}`
  const run = [
    `${cli} PING`,
    ...probe.masters
      .filter((other) => other !== node)
      .slice(0, 1)
      .map((other) => `${cliOf(probe.address, other)} CLUSTER NODES`),
  ]
  return {
    ...{ node, name, cli, info: new Map(), config: new Map(), away: true },
    refused: [{ code: 'no-answer', about: name, what, run }],
  }
}

/** Whether only a part of the server refused, or is away: the rest can be examined. */
export const isPart = (probe: Probe, error: unknown): error is EngineError =>
  isRefusal(error) || (probe.cluster && isA(error, EngineError))

/** Asks one master everything. Rejects if it cannot be reached. */
export const serverAt = async (probe: Probe, node: Node): Promise<Server> => {
  const name = node ?? probe.address
  const refused: Finding[] = []
  const ask = async <T>(question: string, answer: Promise<T>): Promise<T | undefined> => {
    try {
      return await answer
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused.push({ code: 'unseen', about: name, what: `${question} was refused: ${error.message}` })
      return undefined
    }
  }
  const latency = await ask('PING', latencyOf(probe, node))
  const info = await ask('INFO', probe.info(node))
  const clockOff = await ask('TIME', probe.clockOff(node))
  const config = await configOf(probe, node)
  return { node, name, cli: cliOf(probe.address, node), info: info ?? new Map(), config, clockOff, latency, refused }
}

const latencyOf = async (probe: Probe, node: Node): Promise<Latency> => {
  const times: number[] = []
  for (let i = 0; i < PINGS; i++) {
    const began = performance.now()
    await probe.text(['PING'], node)
    times.push(performance.now() - began)
  }
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.floor(part * (PINGS - 1))] ?? 0
  return { min: at(0), median: at(0.5), max: at(1) }
}

/** Managed servers and users of least rights refuse CONFIG: then these are not known. */
const configOf = async (probe: Probe, node: Node): Promise<ReadonlyMap<string, string>> => {
  const config = new Map<string, string>()
  for (const name of ['save', 'appendfsync']) {
    try {
      const [key, value] = await probe.texts(['CONFIG', 'GET', name], node)
      if (key === name && value !== undefined) config.set(name, value)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }
  return config
}

/** The name and the version of a server, by its INFO. */
export const softwareOf = ({ info }: Server): string => {
  const name = info.get('server_name') ?? 'redis'
  return `${name} ${info.get(`${name}_version`) ?? info.get('redis_version') ?? 'of an unknown version'}`
}
