/** What the dashboard has, below the path at which it is mounted. */
const LEAVES = ['', 'app.js', 'style.css', 'events', 'state', 'release', 'extend', 'ask'] as const
export type Leaf = (typeof LEAVES)[number]

/** Paths of other shapes are tricks, or mistakes: `//`, `%2e`, a backslash. */
const PLAIN = /^(\/[\w.~@!$&'()*+,;=:-]+)*\/?$/

/** `redirect`: the page's address must end with a slash, so that what it loads is beside it. */
export type Route = { readonly leaf: Leaf } | { readonly redirect: string } | undefined

const leafOf = (text: string): Leaf | undefined => LEAVES.find((leaf) => leaf === text)

/** `base`: where the dashboard is mounted, without a slash at the end. Undefined: wherever the request leads. */
export const routeOf = (pathname: string, base: string | undefined): Route => {
  if (!PLAIN.test(pathname)) return undefined
  const cut = pathname.lastIndexOf('/')
  const [folder, last] = [pathname.slice(0, cut), pathname.slice(cut + 1)]
  if (base !== undefined && folder !== base) return pathname === base ? redirectTo(last) : undefined
  const leaf = leafOf(last)
  if (leaf !== undefined) return { leaf }
  return base === undefined ? redirectTo(last) : undefined
}

const redirectTo = (last: string): Route => ({ redirect: `./${last}/` })
