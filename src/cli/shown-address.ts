const LONGEST = 44

/** The address without secrets, fit to be shown. In case of doubt, none of it is shown. */
export const shownAddress = (url: string): string => {
  if (url.startsWith('memory:')) return 'the engine embedded in this process'
  const scheme = /^[a-z+]+:\/\//i.exec(url)?.[0]
  const at = url.lastIndexOf('@')
  const query = url.search(/[?#]/)
  // If an @ follows the first ?, one of the two belongs to a password.
  if (scheme === undefined || (query >= 0 && query < at)) return 'the given server'
  const hosts = url.slice(Math.max(scheme.length, at + 1), query < 0 ? undefined : query)
  const text = scheme + hosts
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
