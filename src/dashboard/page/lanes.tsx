import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ShownLock } from '../page-messages.js'
import { Lane, laneHeight } from './lane.js'
import type { Levels } from './problems.js'

/** px. Lanes that are so far outside of the page are drawn as well. */
const MARGIN = 400
const NARROW = '(max-width: 760px)'

/** Where each lane begins; last, where the list ends. */
const topsOf = (locks: readonly ShownLock[], stacked: boolean): readonly number[] => {
  const tops = [0]
  for (const lock of locks) tops.push((tops.at(-1) ?? 0) + laneHeight(lock, stacked))
  return tops
}

/** The last lane that begins at `y` or above. */
const laneAt = (tops: readonly number[], y: number): number => {
  let [low, high] = [0, tops.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tops[middle] ?? 0) <= y) low = middle
    else high = middle - 1
  }
  return low
}

const useNarrow = (): boolean => {
  const [narrow, set] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const list = matchMedia(NARROW)
    const changed = () => set(list.matches)
    list.addEventListener('change', changed)
    return () => list.removeEventListener('change', changed)
  }, [])
  return narrow
}

/** Draws again when the page was scrolled or has another size, once a frame at most. */
const useScrolling = (): void => {
  const [, again] = useState(0)
  useEffect(() => {
    let frame = 0
    const moved = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => again((n) => n + 1))
    }
    addEventListener('scroll', moved, { passive: true })
    addEventListener('resize', moved)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', moved)
      removeEventListener('resize', moved)
    }
  }, [])
}

interface LanesProps {
  readonly locks: readonly ShownLock[]
  readonly now: number
  readonly levels: Levels
  /** The lane whose name has the focus of the keyboard. */
  readonly focus: { id: string } | undefined
}

/** All lanes. Only those that can be seen are in the document. */
export const Lanes = ({ locks, now, levels, focus }: LanesProps) => {
  const box = useRef<HTMLDivElement>(null)
  const narrow = useNarrow()
  useScrolling()
  const tops = topsOf(locks, narrow)
  const from = scrollY - (box.current?.offsetTop ?? 200)
  const first = laneAt(tops, from - MARGIN)
  const last = Math.min(locks.length, laneAt(tops, from + innerHeight + MARGIN) + 1)
  useLayoutEffect(() => {
    const at = focus === undefined ? -1 : locks.findIndex(({ id }) => id === focus.id)
    if (at >= 0) focusAt(box.current, at, tops, focus?.id ?? '')
  }, [focus])
  return (
    <div class="lanes" role="list" aria-label="Locks" ref={box} style={{ height: `${tops.at(-1) ?? 0}px` }}>
      {locks.slice(first, last).map((lock, i) => {
        const at = first + i
        const place = { at, of: locks.length, top: tops[at] ?? 0 }
        return <Lane key={lock.id} {...{ lock, now, place }} level={levels.get(lock.id)} />
      })}
    </div>
  )
}

/** Scrolls to a lane, and focuses its name once it is drawn. */
const focusAt = (box: HTMLElement | null, at: number, tops: readonly number[], id: string): void => {
  const top = (box?.offsetTop ?? 0) + (tops[at] ?? 0)
  const bottom = (box?.offsetTop ?? 0) + (tops[at + 1] ?? 0)
  if (top < scrollY + 60) scrollTo({ top: Math.max(0, top - 120) })
  else if (bottom > scrollY + innerHeight) scrollTo({ top: bottom - innerHeight + 20 })
  const find = (tries: number) => {
    const link = box?.querySelector<HTMLElement>(`[data-lock="${CSS.escape(id)}"]`)
    if (link) link.focus({ preventScroll: true })
    else if (tries > 0) requestAnimationFrame(() => find(tries - 1))
  }
  find(10)
}
