import type { Figures } from './measure.js'
import type { Row } from './rows.js'

const FIRST = 24
const WIDTHS = [11, 11, 11, 10, 10] as const

const lineOf = (title: string, cells: readonly string[]): string =>
  title.padEnd(FIRST) + cells.map((cell, i) => cell.padStart(WIDTHS[i] ?? 0)).join('')

export const HEAD = lineOf('', ['per second', 'median', 'p99', 'server', 'client'])

const milliseconds = (ms: number): string => (Number.isNaN(ms) ? '-' : `${ms < 10 ? ms.toFixed(2) : ms.toFixed(1)} ms`)
const microseconds = (us = NaN): string => (Number.isFinite(us) ? `${us.toFixed(us < 10 ? 1 : 0)} µs` : '-')

export const rowLine = ({ title }: Row, { perSecond, median, p99, serverCpu, clientCpu }: Figures): string =>
  lineOf(title, [
    Math.round(perSecond).toLocaleString('en'),
    milliseconds(median),
    milliseconds(p99),
    microseconds(serverCpu),
    microseconds(clientCpu),
  ])

const rounded = (value: number): number => Math.round(value * 1000) / 1000

/** A row for programs, on one line. `null`: not known. */
export const jsonRow = ({ id, works }: Row, figures: Figures): string =>
  JSON.stringify({
    row: id,
    callers: works.length,
    perSecond: rounded(figures.perSecond),
    median: rounded(figures.median),
    p99: rounded(figures.p99),
    serverCpu: figures.serverCpu === undefined ? null : rounded(figures.serverCpu),
    clientCpu: rounded(figures.clientCpu),
  })
