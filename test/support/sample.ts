import { crc32 } from 'node:zlib'
import { seeded } from './random.js'

/** If set, only a third of what is tried again in another place or on another kind runs, drawn by this seed. CI does so. */
const SAMPLE = process.env['HOLDFAST_SAMPLE']

export const isSampled = SAMPLE !== undefined

export const leftOut = (name: string): boolean => isSampled && seeded(crc32(`${SAMPLE} ${name}`))() < 2 / 3
