import { ConfigError } from '../../errors.js'

/** A browser has no files. */
export const readConfig = (): Promise<never> =>
  Promise.reject(new ConfigError('a browser cannot read a configuration file: pass the options to connect'))
