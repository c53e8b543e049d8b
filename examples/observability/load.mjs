// @ts-check
// Requests to the app: buyers who want the same three products, searches beyond the limit, and now and then a report.
import { setTimeout as sleep } from 'node:timers/promises'

const BUYERS = 8
const PRODUCTS = 3

/** @param {string} app @param {string} path @param {string} [method] */
const request = async (app, path, method = 'POST') => {
  const response = await fetch(app + path, { method })
  await response.arrayBuffer()
}

/** @param {string} app @param {AbortSignal} signal */
const buy = async (app, signal) => {
  while (!signal.aborted) {
    await request(app, `/checkout/${Math.floor(Math.random() * PRODUCTS)}`)
    await sleep(30)
  }
}

/** @param {string} app @param {AbortSignal} signal */
const search = async (app, signal) => {
  while (!signal.aborted) {
    await request(app, '/search', 'GET')
    await sleep(25)
  }
}

/** @param {string} app @param {AbortSignal} signal */
const report = async (app, signal) => {
  while (!signal.aborted) {
    await request(app, '/report/1')
    await sleep(1000, undefined, { signal }).catch(() => undefined)
  }
}

/** Until the signal aborts; resolves when the last request was answered. @param {string} app its URL @param {AbortSignal} signal */
export const load = async (app, signal) => {
  const buyers = Array.from({ length: BUYERS }, () => buy(app, signal))
  await Promise.all([...buyers, search(app, signal), report(app, signal)])
}

/** Two transfers that wait for each other. The client ends the younger one. @param {string} app its URL */
export const deadlock = (app) => Promise.all([request(app, '/transfer/ada/bob'), request(app, '/transfer/bob/ada')])
