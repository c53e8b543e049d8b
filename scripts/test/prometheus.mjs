// @ts-check
import { ensure, onPath } from './packages.mjs'

/** Debian may start Prometheus when it installs it. The tests start their own. */
const DEBIAN = `apt-get update -qq && apt-get install -y -qq --no-install-recommends prometheus && { service prometheus stop || true; }`

/** Makes sure that the example of observability finds Prometheus and promtool, if this machine may be changed. */
export const ensurePrometheus = () => {
  ensure({
    missing: 'no prometheus on the PATH',
    please: 'Prometheus, with promtool',
    isThere: () => ['prometheus', 'promtool'].every(onPath),
    managers: [
      ['apt-get', DEBIAN],
      ['apk', 'apk add --no-cache prometheus'],
      ['dnf', 'dnf install -y golang-github-prometheus'],
      ['brew', 'brew install prometheus'],
    ],
  })
}
