#!/usr/bin/env node
// @ts-check
/** node scripts/failures.mjs <LOG   what failed in that output, each with the beginning of its story; some 40 lines at most */
import { readFileSync } from 'node:fs'
import { isMain } from './is-main.mjs'

const MOST = 40
const STORY = 7
const WIDTH = 240

/** One line for each file with failures, which have lines of their own. */
const COUNTS = /: \d+ passed, \d+ failed/
/** The end of a story. */
const NEXT = /^✔|: FAILED, [\d.]+ s$/

/**
 * Whatever fails here says so in a line that begins with `✘`, and lines that tell more follow; a tool of others has told it before.
 *
 * @param {readonly string[]} lines
 * @returns {string[][]} each failure once: its title and what was told
 */
const storiesOf = (lines) => {
  /** @type {Map<string, string[]>} */
  const stories = new Map()
  /** What follows is told of this one. @type {string[] | undefined} */
  let story
  /** The part of `npm test`, and what it has said. */
  let part = { name: '', said: /** @type {string[]} */ ([]) }
  for (const line of lines) {
    const title = /^ *✘ (.*)/.exec(line)?.[1]
    const begun = /^── (.*)/.exec(line)?.[1]
    if (title !== undefined) {
      story = stories.has(title) || COUNTS.test(title) ? undefined : []
      if (title.startsWith(`${part.name}: `)) story?.push(...part.said.slice(1 - STORY))
      if (story !== undefined) stories.set(title, story)
    } else if (begun !== undefined) part = { name: begun, said: [] }
    else if (line === '' || NEXT.test(line.trim())) story = undefined
    // Node's own messages have empty lines before the values.
    else if (line.trim() !== '') {
      part.said.push(line)
      if (story !== undefined && story.length < STORY - 1) story.push(line)
    }
  }
  return [...stories].map(([title, told]) => [`✘ ${title}`, ...told.map((line) => `    ${line.trim()}`)])
}

/** @param {string} log @returns {string[]} of a log that names none: its end */
export const failuresOf = (log) => {
  const lines = log.split('\n')
  const stories = storiesOf(lines)
  if (stories.length === 0) return lines.slice(-15)
  const each = Math.max(1, Math.floor(MOST / stories.length))
  const shown = stories.flatMap((story) => story.slice(0, each)).slice(0, MOST)
  if (stories.length > MOST) shown.push(`… ${stories.length - MOST} more`)
  return shown.map((line) => line.slice(0, WIDTH))
}

if (isMain(import.meta.url)) console.log(failuresOf(readFileSync(0, 'utf8').trimEnd()).join('\n'))
