/** Builds the driver for every version of Redisson. Where that cannot be, the tests say so. */
import { buildDriver, VERSIONS } from './support/build.js'

try {
  for (const version of VERSIONS) await buildDriver(version)
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'NO_JAVA')) throw error
  console.log(error.message)
}
