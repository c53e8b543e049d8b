import type { Lane, Span } from './world.js'

const ROW = 44
const LEFT = 36
const SECONDS = 16
/** ms. A holder that begins so soon after another ended got the lock from it. */
const HAND_OVER = 900

const HEIGHTS: Readonly<Record<Span['what'], number>> = { waiting: 10, holding: 24, paused: 30, dead: 4 }

export const heightOf = (lanes: number): number => lanes * ROW + 8

interface Picture {
  readonly context: CanvasRenderingContext2D
  readonly width: number
  readonly now: number
  readonly colour: (name: string) => string
}

const xOf = ({ width, now }: Picture, at: number): number =>
  Math.max(LEFT, width - ((now - at) / (SECONDS * 1000)) * (width - LEFT))

const middle = (row: number): number => row * ROW + ROW / 2 + 4

const drawSpan = (picture: Picture, row: number, { what, from, to }: Span): void => {
  const { context, colour, now } = picture
  const [left, right] = [xOf(picture, from), xOf(picture, to ?? now)]
  if (right <= LEFT) return
  const height = HEIGHTS[what]
  context.fillStyle = colour(what)
  context.globalAlpha = what === 'paused' ? 0.45 : 1
  context.fillRect(left, middle(row) - height / 2, Math.max(1, right - left), height)
  context.globalAlpha = 1
}

interface Edge {
  readonly row: number
  readonly at: number
}

const edges = (lanes: readonly Lane[], which: (span: Span) => number | undefined): Edge[] =>
  lanes.flatMap(({ spans }, row) =>
    spans.flatMap((span) => {
      const at = span.what === 'holding' ? which(span) : undefined
      return at === undefined ? [] : [{ row, at }]
    }),
  )

const drawHandOvers = (picture: Picture, lanes: readonly Lane[]): void => {
  const ends = edges(lanes, ({ to, handedOn }) => (handedOn === true ? to : undefined))
  const { context, colour } = picture
  context.strokeStyle = colour('text')
  context.globalAlpha = 0.6
  for (const { row, at } of edges(lanes, ({ from }) => from)) {
    const last = ends.findLast((end) => end.row !== row && end.at <= at && at - end.at < HAND_OVER)
    if (last === undefined || xOf(picture, last.at) <= LEFT) continue
    context.beginPath()
    context.moveTo(xOf(picture, last.at), middle(last.row))
    context.lineTo(xOf(picture, at), middle(row))
    context.stroke()
  }
  context.globalAlpha = 1
}

const drawGrid = ({ context, width, colour }: Picture, lanes: readonly Lane[]): void => {
  context.font = '600 15px system-ui, sans-serif'
  context.textBaseline = 'middle'
  for (const [row, { name }] of lanes.entries()) {
    context.fillStyle = colour('line')
    context.fillRect(LEFT, middle(row), width - LEFT, 1)
    context.fillStyle = colour('text')
    context.fillText(name, 8, middle(row))
  }
}

/** One frame: the newest moment is at the right. */
export const draw = (canvas: HTMLCanvasElement, lanes: readonly Lane[], now: number): void => {
  const context = canvas.getContext('2d')
  if (context === null) return
  const [width, height, scale] = [canvas.clientWidth, heightOf(lanes.length), devicePixelRatio]
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
  }
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)
  const style = getComputedStyle(canvas)
  const picture: Picture = { context, width, now, colour: (name) => style.getPropertyValue(`--${name}`) }
  drawGrid(picture, lanes)
  for (const [row, { spans }] of lanes.entries()) for (const span of spans) drawSpan(picture, row, span)
  drawHandOvers(picture, lanes)
}
