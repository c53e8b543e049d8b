// @ts-check
import { ensure, onPath } from './packages.mjs'

/** @param {string} packages */
const aptGet = (packages) => `apt-get install -y -qq --no-install-recommends ${packages}`

/** Makes sure that the tests beside the real Redisson find a JDK and Maven, if this machine may be changed. */
export const ensureJava = () => {
  ensure({
    missing: 'no java on the PATH',
    please: 'a JDK, 17 or newer, and Maven',
    isThere: () => ['java', 'javac', 'mvn'].every(onPath),
    managers: [
      [
        'apt-get',
        // Slim images lack the folder, and the package fails without it.
        'mkdir -p /usr/share/man/man1 && apt-get update -qq && ' +
          `(${aptGet('openjdk-17-jdk-headless maven')} || ${aptGet('openjdk-21-jdk-headless maven')})`,
      ],
      ['apk', 'apk add --no-cache openjdk17-jdk maven'],
      ['dnf', 'dnf install -y java-17-openjdk-devel maven || dnf install -y java-latest-openjdk-devel maven'],
      ['brew', 'brew install openjdk maven'],
    ],
  })
}
