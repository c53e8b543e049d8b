// @ts-check
import { ensure, onPath, tryInstall } from './packages.mjs'

/** Makes sure that the tests find a Redis server, if this machine may be changed. */
export const ensureRedis = () => {
  ensure({
    missing: 'no redis-server on the PATH',
    please: 'Redis or Valkey',
    isThere: () => onPath('redis-server'),
    managers: [
      ['apt-get', 'apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server'],
      ['apk', 'apk add --no-cache redis'],
      ['dnf', 'dnf install -y redis || dnf install -y valkey'],
      ['brew', 'brew install redis'],
    ],
  })
}

/** Lets tests step the wall clock of a process. */
export const tryFaketime = () => {
  tryInstall('faketime', 'apt-get install -y -qq --no-install-recommends faketime')
}
