// @ts-check
import { ensure, onPath } from './packages.mjs'

/** Debian may start nginx when it installs it. The tests start their own. */
const DEBIAN = `apt-get update -qq && apt-get install -y -qq --no-install-recommends nginx-light && { service nginx stop || true; }`

export const hasNginx = () => onPath('nginx')

/** Makes sure that the dashboard's tests find nginx, if this machine may be changed. */
export const ensureNginx = () => {
  ensure({
    missing: 'no nginx on the PATH',
    please: 'nginx',
    isThere: hasNginx,
    managers: [
      ['apt-get', DEBIAN],
      ['apk', 'apk add --no-cache nginx'],
      ['dnf', 'dnf install -y nginx'],
      ['brew', 'brew install nginx'],
    ],
  })
}
