/** What `reflect-metadata`, which Nest loads, adds to `Reflect`. */
interface Metadata {
  getOwnMetadataKeys(target: object): readonly unknown[]
  getOwnMetadata(key: unknown, target: object): unknown
  defineMetadata(key: unknown, value: unknown, target: object): void
}

const metadata = (): Metadata => Reflect

export const readMetadata = (key: unknown, target: object): unknown => metadata().getOwnMetadata(key, target)

export const writeMetadata = (key: unknown, value: unknown, target: object): void => {
  metadata().defineMetadata(key, value, target)
}

/** Guards, interceptors, routes and patterns are noted at the function: its wrapper has them, too. */
export const copyMetadata = (from: object, to: object): void => {
  for (const key of metadata().getOwnMetadataKeys(from)) writeMetadata(key, readMetadata(key, from), to)
}
