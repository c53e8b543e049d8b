const two = (number: number): string => String(number).padStart(2, '0')

/** A time in ms as people read it, in at most two units. */
export const spanOf = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`
  const seconds = Math.floor(ms / 1000)
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)]
  if (minutes === 0) return `${seconds}s`
  if (hours === 0) return `${minutes}m${two(seconds % 60)}s`
  return days === 0 ? `${hours}h${two(minutes % 60)}m` : `${days}d${two(hours % 24)}h`
}
