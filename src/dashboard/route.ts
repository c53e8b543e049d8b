/** Paths of other shapes are tricks, or mistakes: `//`, `%2e`, a backslash. */
const PLAIN = /^(\/[\w.~@!$&'()*+,;=:-]+)*\/?$/

/** `redirect`: the page's address must end with a slash, so that what it loads is beside it. */
export type Route<T> = { readonly place: T } | { readonly redirect: string } | undefined

/**
 * `places`: what the dashboard has, by the last part of the path. `base`: where the dashboard is mounted, without a slash at the end. Undefined: wherever the
 * request leads.
 */
export const routeOf = <T>(pathname: string, base: string | undefined, places: ReadonlyMap<string, T>): Route<T> => {
  if (!PLAIN.test(pathname)) return undefined
  const cut = pathname.lastIndexOf('/')
  const [folder, last] = [pathname.slice(0, cut), pathname.slice(cut + 1)]
  if (base !== undefined && folder !== base) return pathname === base ? redirectTo(last) : undefined
  const place = places.get(last)
  if (place !== undefined) return { place }
  return base === undefined ? redirectTo(last) : undefined
}

const redirectTo = (last: string): { readonly redirect: string } => ({ redirect: `./${last}/` })
