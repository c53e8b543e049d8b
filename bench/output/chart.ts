/** Pictures as SVG, readable on light and on dark. */
const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.axis { stroke: #d1d9e0 }
.mark { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 4 3 }
.ours { fill: #0969da } .peer { fill: #8c959f } .floor { fill: #d1d9e0 }
.line { fill: none; stroke-width: 1.5; stroke: #8c959f } .line.ours { fill: none; stroke: #0969da; stroke-width: 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .axis { stroke: #3d444d }
  .mark { stroke: #f0f6fc }
  .ours { fill: #4493f8 } .peer { fill: #7d8590 } .floor { fill: #3d444d }
  .line { stroke: #7d8590 } .line.ours { stroke: #4493f8 }
}`

/** Of lines that would else be taken for one another; each can be seen on light and on dark. */
const COLOURS = ['#e5534b', '#c69026', '#57ab5a', '#b083f0', '#cc6b2c', '#39c5cf', '#e275ad', '#768390']

const WIDTH = 760

const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${more}>${escape(words)}</text>`

const picture = (title: string, subtitle: string, height: number, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(title).replace(/"/g, '&quot;')}">`,
    `<style>${STYLE}\n</style>`,
    text(0, 18, title, ' class="title"'),
    text(0, 38, subtitle, ' class="small"'),
    ...parts,
    '</svg>\n',
  ].join('\n')

export type Look = 'ours' | 'peer' | 'floor'

export interface Bar {
  readonly label: string
  readonly value: number
  /** As it is written beside it. */
  readonly shown: string
  readonly look: Look
}

const TOP = 52
const BAR = 26
const LABELS = 250
const VALUES = 130

export const bars = (title: string, subtitle: string, all: readonly Bar[]): string => {
  const most = Math.max(...all.map(({ value }) => value))
  const parts = all.flatMap(({ label, value, shown, look }, index) => {
    const y = TOP + index * BAR
    const width = Math.max(1, ((WIDTH - LABELS - VALUES) * value) / most)
    return [
      text(LABELS - 10, y + 16, label, ' text-anchor="end"'),
      `<rect class="${look}" x="${LABELS}" y="${y + 3}" width="${width.toFixed(1)}" height="${BAR - 8}" rx="2"/>`,
      text(LABELS + width + 8, y + 16, shown, ' class="small"'),
    ]
  })
  return picture(title, subtitle, TOP + all.length * BAR + 8, parts)
}

/** What is divided between two sides: the part of the first one, in %, before that of the other. */
export interface Share {
  readonly label: string
  readonly part: number
  /** As it is written beside it. */
  readonly shown: string
}

const NOTES = 200

/** `fair`: the ends of what the first part should be. */
export const shares = (title: string, subtitle: string, fair: readonly number[], all: readonly Share[]): string => {
  const xOf = (part: number): number => LABELS + ((WIDTH - LABELS - NOTES) * part) / 100
  const rect = (look: Look, from: number, to: number, y: number): string =>
    `<rect class="${look}" x="${xOf(from).toFixed(1)}" y="${y + 3}" width="${(xOf(to) - xOf(from)).toFixed(1)}" height="${BAR - 8}"/>`
  const bottom = TOP + all.length * BAR
  const parts = all.flatMap(({ label, part, shown }, index) => {
    const y = TOP + index * BAR
    return [
      text(LABELS - 10, y + 16, label, ' text-anchor="end"'),
      rect('peer', 0, part, y),
      rect('ours', part, 100, y),
      text(xOf(100) + 8, y + 16, shown, ' class="small"'),
    ]
  })
  const marks = fair.flatMap((part) => [
    `<path class="mark" d="M${xOf(part).toFixed(1)} ${TOP}V${bottom}"/>`,
    text(xOf(part), bottom + 16, `${part} %`, ' text-anchor="middle" class="small"'),
  ])
  return picture(title, subtitle, bottom + 24, [...parts, ...marks])
}

export interface Line {
  readonly label: string
  /** One for each place of the axis; undefined: nothing there. */
  readonly values: readonly (number | undefined)[]
  readonly look: Look
}

const LEFT = 56
const RIGHT = 190
const GRAPH = 260
const APART = 14

/** Labels below each other that would stand on each other. */
const apart = (wanted: readonly { readonly y: number }[]): number[] => {
  const order = wanted.map((_, index) => index).sort((one, other) => wanted[one]!.y - wanted[other]!.y)
  const placed = wanted.map(({ y }) => y)
  order.forEach((index, at) => {
    if (at > 0) placed[index] = Math.max(placed[index]!, placed[order[at - 1]!]! + APART)
  })
  return placed
}

/** Figures of any size, so the axis that goes up is logarithmic; places stand evenly beside each other. */
export const lines = (title: string, subtitle: string, places: readonly string[], all: readonly Line[]): string => {
  const values = all.flatMap((line) => line.values.filter((value): value is number => value !== undefined && value > 0))
  const [lowest, highest] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))]
  const decades = Math.max(1, highest - lowest)
  const yOf = (value: number): number => TOP + GRAPH * (1 - (Math.log10(value) - lowest) / decades)
  const xOf = (place: number): number => LEFT + ((WIDTH - LEFT - RIGHT) * place) / Math.max(1, places.length - 1)
  const grid = Array.from({ length: decades + 1 }, (_, step) => 10 ** (lowest + step)).flatMap((value) => [
    `<path class="axis" d="M${LEFT} ${yOf(value).toFixed(1)}H${WIDTH - RIGHT}"/>`,
    text(LEFT - 8, yOf(value) + 4, value.toLocaleString('en-US'), ' text-anchor="end" class="small"'),
  ])
  const axis = places.map((place, index) =>
    text(xOf(index), TOP + GRAPH + 20, place, ' text-anchor="middle" class="small"'),
  )
  const known = all.map(({ values }) =>
    values.flatMap((value, place) => (value !== undefined && value > 0 ? [{ x: xOf(place), y: yOf(value) }] : [])),
  )
  const ends = apart(known.map((points) => points.at(-1) ?? { y: 0 }))
  const shown = all.flatMap(({ label, look }, index) => {
    const points = known[index]!
    if (points.length === 0) return []
    const path = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')
    const colour = COLOURS[index % COLOURS.length]!
    const drawn = look === 'ours' ? '' : ` style="stroke:${colour}"${look === 'floor' ? ' stroke-dasharray="3 3"' : ''}`
    return [
      `<path class="line ${look}"${drawn} d="M${path}"/>`,
      text(WIDTH - RIGHT + 8, ends[index]! + 4, label, look === 'ours' ? '' : ` class="small" style="fill:${colour}"`),
    ]
  })
  const height = Math.max(TOP + GRAPH + 30, Math.max(...ends) + 12)
  return picture(title, subtitle, height, [...grid, ...axis, ...shown])
}
