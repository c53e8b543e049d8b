import type { Codec, CodecName } from '../../api/codec.js'
import type { JavaCodec } from '../../codecs/java-codec.js'
import type { NatMap } from '../../engine/endpoint.js'
import { type Tree, wrong } from './yaml-tree.js'
import type { Values } from './field-values.js'
import { type Reading, simpleName } from './use-warn-or-refuse.js'
import { plainText, quoted } from '../../plain-text.js'

/** The codecs that stand for Java's classes. */
const CODECS: Readonly<Record<string, CodecName>> = {
  StringCodec: 'string',
  LongCodec: 'long',
  IntegerCodec: 'long',
  ByteArrayCodec: 'bytes',
  JsonJacksonCodec: 'jackson',
  JsonJackson3Codec: 'jackson',
}

/** A file may use a name that every object has, such as `toString`. */
const entryOf = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  name in Object.prototype && !Object.hasOwn(of, name) ? undefined : of[name]

/** Locks need no codec. So a codec that only Java has causes no error until a value needs it. */
export const codecIn = (
  values: Values,
  { warn }: Reading,
  given: CodecName | Codec | undefined,
): CodecName | Codec | undefined => {
  const name = values.className('codec')
  if (name === undefined || given !== undefined) return given
  const known = entryOf(CODECS, simpleName(name) ?? '')
  if (known !== undefined) return known
  const at = values.at('codec')
  const why = `only Java can read and write ${shown(name)}: pass a codec to connect if you use topics, keyed locks, or scripts that need one`
  warn(at, `codec: ${why}`)
  const refuse = (): never => {
    throw wrong(at, `codec: ${why}`)
  }
  return { encode: () => refuse(), decode: () => refuse() }
}

/** The codec of Java's clients by this file, whatever this client uses. */
export const javaCodecIn = (values: Values, given: CodecName | Codec | undefined): JavaCodec => {
  const name = values.className('codec')
  const codec = name === undefined ? undefined : CODECS[simpleName(name) ?? '']
  const where = name === undefined ? '' : `${values.at('codec')}: `
  const title = name === undefined ? 'Redisson’s default, Kryo (the file names no codec)' : shown(name)
  return { codec, title: `${where}${title}`, replaced: given !== undefined }
}

type Mapper = (name: string) => string

/** Without the mapper, the keys would differ. */
export const nameMapperIn = (
  values: Values,
  registered: Readonly<Record<string, Mapper>>,
  given: Mapper | undefined,
): Mapper | undefined => {
  const name = values.className('nameMapper')
  if (name === undefined || simpleName(name) === 'DefaultNameMapper') return undefined
  const mapper = given ?? entryOf(registered, name) ?? entryOf(registered, simpleName(name) ?? '')
  if (mapper !== undefined) return mapper
  const own = shown(name)
  throw wrong(
    values.at('nameMapper'),
    `nameMapper ${plainText(own)} is Java code: pass a function that does the same to connect, nameMappers: { ${quoted(own)}: (name) => … }`,
  )
}

/** Maps an address that servers report to the address that this client must use. */
export const natMapIn = (values: Values): NatMap | undefined => {
  const field = values.has('natMapper') ? 'natMapper' : 'natMap'
  const tree = values.tree(field)
  if (tree === undefined) return undefined
  const kind = field === 'natMap' ? 'HostPortNatMapper' : simpleName(tree.tag)
  if (kind === 'DefaultNatMapper') return undefined
  const inner = field === 'natMap' ? tree : entry(tree, kind === 'HostNatMapper' ? 'hostsMap' : 'hostsPortMap')
  if (inner?.kind !== 'map' || (kind !== 'HostNatMapper' && kind !== 'HostPortNatMapper')) {
    throw wrong(tree.at, `${field} must be a HostPortNatMapper with hostsPortMap, or a HostNatMapper with hostsMap`)
  }
  const map = new Map(inner.entries.map(({ name, value }) => [name, textOf(value)]))
  return (address) => {
    const [host, port] = split(address)
    if (kind === 'HostNatMapper') return named(map.get(host), port)
    const [to, toPort] = split(map.get(address) ?? '')
    return named(to === '' ? undefined : to, toPort)
  }
}

const entry = (tree: Tree, name: string): Tree | undefined =>
  tree.kind === 'map' ? tree.entries.find((one) => one.name === name)?.value : undefined

const textOf = (tree: Tree): string => {
  if (tree.kind === 'text') return tree.text
  throw wrong(tree.at, 'an address is expected here')
}

const split = (address: string): [host: string, port: string] => {
  const colon = address.lastIndexOf(':')
  return [address.slice(0, colon), address.slice(colon + 1)]
}

const named = (host: string | undefined, port: string): { host: string; port: number } | null =>
  host === undefined ? null : { host, port: Number(port) }

/** A text that is not a class name may be a misplaced secret. */
const shown = (name: string): string => (/^[\w.$]{1,200}$/.test(name) ? name : 'the class named here')
