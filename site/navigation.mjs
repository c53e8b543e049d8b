// @ts-check
/** Which pages the site shows where. `site/build.mjs` fails if a page of docs/ is missing here. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** @typedef {{ text: string, link: string }} Item */
/** @typedef {{ text: string, items: Item[] }} Group */

/** @param {string} path */
const titleOf = (path) => (/^# (.*)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? path).replaceAll('`', '')

/** All pages of a folder of docs/, by their titles. @param {string} folder @returns {Item[]} */
const folder = (folder) =>
  existsSync(join(root, 'docs', folder))
    ? readdirSync(join(root, 'docs', folder))
        .filter((name) => name.endsWith('.md') && name !== 'README.md')
        .map((name) => ({ text: titleOf(`docs/${folder}/${name}`), link: `/${folder}/${name.slice(0, -3)}` }))
    : []

/** @param {string} text @param {string} link @returns {Item} */
const page = (text, link) => ({ text, link })

const START = [
  page('Start in five minutes', '/start'),
  page('Choose a lock', '/choosing'),
  page('Compared with others', '/comparison'),
  page('About the playground', '/playground'),
]
const GUIDES = [
  page('The whole guide', '/guide'),
  page('Connect', '/guide#connecting'),
  page('Acquire, wait, give up', '/guide#acquiring'),
  page('Nest calls, share an owner', '/guide#owners-and-re-entrance'),
  page('Know that a lock is lost', '/guide#trust'),
  page('Guard a resource: fenced locks', '/guide#fenced-locks'),
  page('Many readers, one writer', '/guide#read-write-locks'),
  page('Limit how many: semaphores', '/guide#semaphores'),
  page('Wait for others: latches', '/guide#count-down-latches'),
  page('Limit a rate', '/guide#rate-limiters'),
  page('Code for navigator.locks', '/web-locks'),
  page('Limit HTTP requests', '/rate-limiter'),
  page('Make HTTP retries safe', '/idempotency'),
  page('Elect a leader', '/leaders'),
  page('Run once for each slot', '/slots'),
  page('Compute once, share the result', '/flights'),
  page('NestJS', '/nestjs'),
  page('Fastify', '/fastify'),
  page('Scripts, topics, codecs', '/messaging'),
]
const TESTING = [page('Test your own code', '/guide#testing-your-own-code'), page('What memory: supports', '/memory')]
const DEPLOY = [
  page('Connections: Sentinel, Cluster, TLS', '/connections'),
  page('Shut down', '/shutdown'),
  page('Kubernetes', '/recipes/kubernetes'),
  page('AWS Lambda', '/recipes/lambda'),
  page('Bundles and runners', '/bundling'),
  page('Users and rights (ACL)', '/security#a-user-who-may-do-no-more'),
]
const OPERATE = [
  page('When a lock is stuck', '/operations'),
  page('How much one server carries', '/scale'),
  page('The dashboard', '/dashboard'),
  page('The command line', '/command-line'),
  page('Events, traces, metrics', '/telemetry'),
  page('Errors', '/errors'),
  page('Security', '/security'),
]
const JAVA = [
  page('Beside Redisson', '/redisson'),
  page('The fair lock', '/fair-lock'),
  page('Redisson’s names', '/redisson-names'),
  page('Redisson’s configuration', '/configuration'),
]
const INSIDE = [
  page('How it is built', '/architecture'),
  page('Keys and messages', '/protocol'),
  page('Benchmarks', '/benchmarks'),
  page('What was tried for speed', '/performance'),
  page('Behaviours and tests', '/conformance'),
]
const PROJECT = [
  page('What is supported', '/support'),
  page('Changes', '/changelog'),
  page('Contributing', '/contributing'),
]

/** How you import them. @returns {Item[]} */
const modules = () => {
  /** @type {{ exports: Record<string, string | object> }} */
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // What has no types is no module to import.
  const names = Object.entries(manifest.exports).filter(([, target]) => typeof target !== 'string')
  return names.map(([name]) => page(`holdfast${name.slice(1)}`, `/api/holdfast${name.slice(1)}/`))
}

/** @returns {Group[]} */
export const groups = () =>
  [
    { text: 'Start', items: START },
    { text: 'Guides', items: GUIDES },
    { text: 'Recipes', items: [page('All recipes', '/recipes/'), ...folder('recipes')] },
    { text: 'Migrate from', items: folder('migrate') },
    { text: 'Test', items: TESTING },
    { text: 'Deploy', items: DEPLOY },
    { text: 'Operate', items: OPERATE },
    { text: 'API', items: [page('All modules', '/api/'), ...modules()] },
    { text: 'Beside Java', items: JAVA },
    { text: 'How it works', items: [...INSIDE, ...folder('how-it-works')] },
    { text: 'Project', items: [...PROJECT, ...folder('contributing')] },
  ].filter(({ items }) => items.length > 0)

/** Built by a tool of its own, if at all. */
export const PLAYGROUND = join(import.meta.dirname, 'playground/dist')
export const hasPlayground = () => existsSync(join(PLAYGROUND, 'index.html'))

/** The bar at the top. @returns {(Item & { target?: string })[]} */
export const bar = () => [
  page('Start', '/start'),
  page('Guide', '/guide'),
  page('Recipes', '/recipes/'),
  page('API', '/api/'),
  page('Operate', '/operations'),
  ...(hasPlayground() ? [{ ...page('Playground', '/playground/index.html'), target: '_self' }] : []),
]
