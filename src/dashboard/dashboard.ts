import type { Client } from '../api/client.js'
import { systemClock } from '../base/clock.js'
import { checkFunction, checkLease, checkMethods, checkName, checkOptions, show } from '../check-arguments.js'
import { plainJson } from '../plain-text.js'
import { tell, textOf } from '../thrown.js'
import { act, ACTS, type DashboardAction } from './hold-actions.js'
import { answer, notAllowed, refusal } from './responses.js'
import { PAGE, SCRIPT, STYLE } from './assets.gen.js'
import { fromElsewhere } from './same-origin.js'
import { Reader } from './reader.js'
import { routeOf } from './route.js'
import type { DashboardSchedule } from './schedules.js'
import { aliases } from './lock-for-page.js'
import { Streams } from './streams.js'

/** What a request may do: nothing, look, or also act on locks: release and extend what others hold. */
export type Leave = false | 'read' | 'act'

/** Options of `dashboard`. */
export interface DashboardOptions {
  /** The locks that this client can list are shown. */
  readonly client: Client
  /** Says for each request what it may do; for an action, also after its body has been read. If it throws, the request may do nothing. */
  readonly authorize: (request: Request) => Leave | Promise<Leave>
  /** Where the dashboard is mounted, for example `/admin/locks`. Default: wherever the requests lead. */
  readonly path?: string | undefined
  /** What the page calls the server, for example `production`. Default: nothing. */
  readonly title?: string | undefined
  /** The schedules whose newest slots are shown, at most 20. Needs croner, as `holdfast/schedule` does. Default: none. */
  readonly schedules?: readonly DashboardSchedule[] | undefined
  /** How many tabs may have a stream at once. Others poll. Default 64. */
  readonly streams?: number | undefined
  /** Called after each action, so that you can write down who did what. If it throws, the error is ignored. Default: none. */
  readonly onAction?: ((action: DashboardAction) => void) | undefined
}

/** Where a framework has mounted the handler, if the request does not show it. */
export interface DashboardMount {
  /** The path, without a slash at the end. */
  readonly base: string
}

/** Answers the requests of the dashboard. */
export type DashboardHandler = (request: Request, mount?: DashboardMount) => Promise<Response>

const STREAMS = 64
const KNOWN = ['client', 'authorize', 'path', 'title', 'schedules', 'streams', 'onAction']
const MOST_SCHEDULES = 20

const checkPath = (path: string | undefined): string | undefined => {
  if (path === undefined) return undefined
  if (typeof path === 'string' && path.startsWith('/')) return path.replace(/\/+$/, '')
  throw new TypeError(`path must begin with a slash, not ${show(path)}`)
}

const checkStreams = (streams: number): number => {
  if (Number.isSafeInteger(streams) && streams >= 0) return streams
  throw new TypeError(`streams must be an integer from 0, not ${show(streams)}`)
}

const checkSchedules = (schedules: readonly DashboardSchedule[]): readonly DashboardSchedule[] => {
  if (!Array.isArray(schedules) || schedules.length > MOST_SCHEDULES)
    throw new TypeError(`schedules must be a list of at most ${MOST_SCHEDULES}, not ${show(schedules)}`)
  return schedules.map((one: DashboardSchedule) => {
    const given = checkOptions(one, ['name', 'cron', 'timezone', 'retention']) as DashboardSchedule
    const { name, cron, timezone, retention } = given
    checkName(name)
    for (const [option, text] of Object.entries({ cron, timezone: timezone ?? '' }))
      if (typeof text !== 'string') throw new TypeError(`${option} of a schedule must be a text, not ${show(text)}`)
    if (retention !== undefined) checkLease(retention, 'retention')
    return { name, cron, timezone, retention }
  })
}

/**
 * A page that shows live what is locked, with holders and waiters: one function from a request to its response. It only reads, unless `authorize` answers `'act'`.
 *
 * @example
 *     const handler = dashboard({ client, authorize: (request) => (isAdmin(request) ? 'read' : false) })
 */
export const dashboard = (options: DashboardOptions): DashboardHandler => {
  const read = checkOptions(options, KNOWN) as DashboardOptions
  const { client, authorize, title = '', onAction, schedules = [], streams = STREAMS } = read
  checkMethods(client, 'client', ['list', 'health'])
  checkFunction(authorize, 'authorize')
  if (onAction !== undefined) checkFunction(onAction, 'onAction')
  const path = checkPath(read.path)
  const alias = aliases(systemClock.randomBytes(32))
  const reader = new Reader({ client, alias, where: title, schedules: checkSchedules(schedules) })
  const parts: Parts = {
    reader,
    streams: new Streams(reader, checkStreams(streams)),
    act: (leaf, request) =>
      act(leaf, request, {
        ...{ client, alias, reader, leave: (body) => leaveOf(authorize, new Request(request, { body })) },
        // What it throws is its own affair: the action is done.
        tell: (action) =>
          tell(
            () => onAction?.(action),
            () => undefined,
          ),
      }),
  }
  return async (request, mount) => {
    const may = await leaveOf(authorize, request)
    if (may === false) return notAllowed(may)
    const { pathname } = new URL(request.url)
    const route = routeOf(pathname, path ?? mount?.base, PLACES)
    if (route === undefined) return refusal(404, 'There is nothing here.')
    if ('redirect' in route) return redirected(request, route.redirect)
    const { methods, answer: answered } = route.place
    return methods.includes(request.method) ? answered({ request, may, parts }) : wrongMethod(methods)
  }
}

interface Parts {
  readonly reader: Reader
  readonly streams: Streams
  readonly act: (leaf: keyof typeof ACTS, request: Request) => Promise<Response>
}

interface Asking {
  readonly request: Request
  readonly may: 'read' | 'act'
  readonly parts: Parts
}

const leaveOf = async (authorize: DashboardOptions['authorize'], request: Request): Promise<Leave> => {
  try {
    const leave = await authorize(request)
    return leave === 'read' || leave === 'act' ? leave : false
  } catch {
    return false
  }
}

const wrongMethod = (methods: readonly string[]): Response =>
  refusal(405, 'This method is not allowed here.', { Allow: methods.join(', ') })

const redirected = ({ method }: Request, location: string): Response =>
  method === 'GET' ? refusal(302, 'The page is below this address.', { Location: location }) : wrongMethod(['GET'])

/** What the dashboard has under one path. */
interface Place {
  readonly methods: readonly string[]
  readonly answer: (asking: Asking) => Response | Promise<Response>
}

const file = (text: string, type: string): Place => ({
  methods: ['GET', 'HEAD'],
  answer: ({ request }) => answer(request.method === 'HEAD' ? null : text, { type }),
})

const acting = (leaf: keyof typeof ACTS): Place => ({
  methods: ['POST'],
  answer: ({ request, may, parts }) => (may === 'act' ? parts.act(leaf, request) : notAllowed(may)),
})

/** What shows locks. */
const reading = (answered: Place['answer']): Place => ({
  methods: ['GET'],
  answer: (asking) =>
    fromElsewhere(asking.request) ? refusal(403, 'This request comes from another site.') : answered(asking),
})

const events = reading(({ may, parts, request }) => {
  const stream = parts.streams.open(may, new URL(request.url).searchParams.get('after'))
  if (stream === undefined) return refusal(503, 'Too many tabs have a stream. This one polls.', { 'Retry-After': '10' })
  return answer(stream, { type: 'text/event-stream', more: { 'X-Accel-Buffering': 'no' } })
})

const state = reading(async ({ may, parts }) => {
  try {
    await parts.reader.poll()
    return answer(plainJson({ ...parts.reader.snapshot(), may }, 0), { type: 'application/json' })
  } catch (error) {
    return refusal(503, textOf(error))
  }
})

/** Below the path at which the dashboard is mounted, by the last part of the path. */
const PLACES: ReadonlyMap<string, Place> = new Map([
  ['', file(PAGE, 'text/html')],
  ['app.js', file(SCRIPT, 'text/javascript')],
  ['style.css', file(STYLE, 'text/css')],
  ['events', events],
  ['state', state],
  ...(Object.keys(ACTS) as (keyof typeof ACTS)[]).map((leaf) => [leaf, acting(leaf)] as const),
])
