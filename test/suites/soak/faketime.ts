import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const libraries = (): string[] => {
  const roots = ['/usr/lib', '/usr/local/lib', '/usr/lib64']
  const folders = roots.flatMap((root) => [
    join(root, 'faketime'),
    ...(existsSync(root) ? readdirSync(root).map((entry) => join(root, entry, 'faketime')) : []),
  ])
  return folders.map((folder) => join(folder, 'libfaketimeMT.so.1')).filter((file) => existsSync(file))
}

/** The system's libfaketime, if it is installed. */
export const faketime = process.platform === 'linux' ? libraries()[0] : undefined

/** The environment of a process whose wall clock is `file` seconds off; its other clocks are the machine's. */
export const fakedWall = (file: string): Record<string, string> => ({
  LD_PRELOAD: faketime ?? '',
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

/** The environment of a process whose wall clock is off by an offset such as `+2s`. */
export const fakedOffset = (offset: string): Record<string, string> => ({
  LD_PRELOAD: faketime ?? '',
  FAKETIME: offset,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
