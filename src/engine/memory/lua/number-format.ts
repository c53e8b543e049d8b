import { exponential } from './vm.gen.js'

const special = (value: number): string | undefined => {
  if (value !== value) return '-nan'
  if (value === Infinity) return 'inf'
  return value === -Infinity ? '-inf' : undefined
}

const negativeZero = (value: number): string => (Object.is(value, -0) ? '-' : '')

/** C writes at least two digits for the exponent. */
const exponentForm = (value: number, digits: number): string => {
  const text = exponential(value, Math.min(digits, 100))
  const at = text.indexOf('e')
  const exponent = text.slice(at + 2).padStart(2, '0')
  return `${negativeZero(value)}${text.slice(0, at)}e${text[at + 1] ?? '+'}${exponent}`
}

/** "%.<digits>e" */
export const formatExponent = (value: number, digits: number): string => special(value) ?? exponentForm(value, digits)

/** Like toFixed, but a value exactly between two results becomes the even one, as in C. */
const fixed = (value: number, digits: number): string => {
  const text = value.toFixed(digits)
  if (digits >= 60) return text
  const more = value.toFixed(digits + 1)
  if (!more.endsWith('5') || Number(more) !== value) return text
  if (/[1-9]/.test(value.toFixed(100).slice(more.length))) return text
  const kept = more.slice(0, digits === 0 ? -2 : -1)
  return Number(kept.at(-1)) % 2 === 0 ? kept : text
}

/** "%.<digits>f", exact for numbers of any size. */
export const formatFixed = (value: number, digits: number): string => {
  const named = special(value)
  if (named !== undefined) return named
  if (Math.abs(value) < 1e21) return negativeZero(value) + fixed(value, Math.min(digits, 100))
  return BigInt(value).toString() + (digits > 0 ? `.${'0'.repeat(digits)}` : '')
}

const withoutTrailingZeros = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

/** "%.<digits>g", or "%#.<digits>g" if zeros stay. */
export const formatGeneral = (value: number, digits: number, keepZeros = false): string => {
  const named = special(value)
  if (named !== undefined) return named
  const precision = Math.min(digits === 0 ? 1 : digits, 100)
  const form = exponentForm(value, precision - 1)
  const at = form.indexOf('e')
  const exponent = Number(form.slice(at + 1))
  if (exponent < -4 || exponent >= precision) {
    return (keepZeros ? form.slice(0, at) : withoutTrailingZeros(form.slice(0, at))) + form.slice(at)
  }
  const text = formatFixed(value, Math.max(0, precision - 1 - exponent))
  return keepZeros ? text : withoutTrailingZeros(text)
}
