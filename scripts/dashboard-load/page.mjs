// @ts-check
/** What a tab costs: the time of its main thread, frames while it scrolls, memory. */
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {import('playwright-core').CDPSession} Session */

/** @param {import('playwright-core').Page} page */
export const measured = async (page) => {
  const session = await page.context().newCDPSession(page)
  // In the CPU time of the thread: what other programs take does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return session
}

/** @param {Session} session */
const metricsOf = async (session) => {
  const { metrics } = await session.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}

/** The share of the main thread, while nobody touches the page. @param {Session} session @param {number} ms */
export const idleShare = async (session, ms) => {
  const [before, began] = [await metricsOf(session), performance.now()]
  await sleep(ms)
  const [after, ended] = [await metricsOf(session), performance.now()]
  return ((after['TaskDuration'] ?? 0) - (before['TaskDuration'] ?? 0)) / ((ended - began) / 1000)
}

const SCROLL = `new Promise((resolve) => {
  const frames = []
  const end = performance.now() + 15_000
  let last = performance.now()
  const step = (now) => {
    frames.push(now - last)
    last = now
    if (scrollY + innerHeight >= document.documentElement.scrollHeight) scrollTo(0, 0)
    scrollBy(0, 60)
    if (now < end) requestAnimationFrame(step)
    else resolve(frames.slice(2))
  }
  requestAnimationFrame(step)
})`

/**
 * ms of the frames of 15 seconds of scrolling, and of the main thread for each of them: with very many locks, a reading comes only once in five.
 * @param {import('playwright-core').Page} page @param {Session} session
 */
export const framesOf = async (page, session) => {
  const before = await metricsOf(session)
  const frames = /** @type {number[]} */ (await page.evaluate(SCROLL))
  const after = await metricsOf(session)
  await page.evaluate('scrollTo(0, 0)')
  const cpu = ((after['TaskDuration'] ?? 0) - (before['TaskDuration'] ?? 0)) * 1000
  return { frames: frames.sort((a, b) => a - b), each: cpu / frames.length }
}

/** Bytes and nodes of the document, after a collection. @param {Session} session */
export const heapOf = async (session) => {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return { bytes: usedSize, nodes: (await metricsOf(session))['Nodes'] ?? NaN }
}
