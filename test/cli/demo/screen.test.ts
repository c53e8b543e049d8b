import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Screen, type Terminal } from '#src/cli/text/screen.js'

class FakeTerminal implements Terminal {
  columns = 80
  rows = 24
  written: string[] = []

  write(text: string): void {
    this.written.push(text)
  }

  /** What was written since the last call. */
  take(): string[] {
    return this.written.splice(0)
  }
}

const entered = (): { terminal: FakeTerminal; screen: Screen } => {
  const terminal = new FakeTerminal()
  const screen = new Screen(terminal, 80, 24)
  screen.enter()
  return { terminal, screen }
}

const lines = (...texts: string[]): string[] => texts.map((text) => text.padEnd(80))

test('enters the alternate screen and hides the cursor; leaves it once and puts all back', () => {
  const { terminal, screen } = entered()
  assert.deepEqual(terminal.take(), ['\x1b[?1049h\x1b[?25l\x1b[2J'])
  screen.leave()
  screen.leave()
  assert.deepEqual(terminal.take(), ['\x1b[0m\x1b[?25h\x1b[?1049l'])
})

test('writes only the lines that changed, in one write', () => {
  const { terminal, screen } = entered()
  screen.draw(lines('one', 'two', 'three'))
  terminal.take()
  screen.draw(lines('one', 'TWO', 'three'))
  assert.deepEqual(terminal.take(), [`\x1b[?2026h\x1b[2;1H${'TWO'.padEnd(80)}\x1b[?2026l`])
  screen.draw(lines('one', 'TWO', 'three'))
  assert.deepEqual(terminal.take(), [])
})

test('draws all again after a resize, in the middle', () => {
  const { terminal, screen } = entered()
  screen.draw(lines('one', 'two'))
  terminal.take()
  terminal.columns = 100
  terminal.rows = 30
  screen.draw(lines('one', 'two'))
  const [text = ''] = terminal.take()
  assert.ok(text.includes('\x1b[2J'))
  assert.ok(text.includes('\x1b[4;11Hone') && text.includes('\x1b[5;11Htwo'))
})

test('draws all again when entered again', () => {
  const { terminal, screen } = entered()
  screen.draw(lines('one'))
  screen.leave()
  screen.draw(lines('never seen'))
  screen.enter()
  terminal.take()
  screen.draw(lines('one'))
  assert.ok(terminal.take().join('').includes('one'))
})

test('knows whether the terminal is large enough', () => {
  const { terminal, screen } = entered()
  assert.equal(screen.fits, true)
  terminal.rows = 23
  assert.equal(screen.fits, false)
})
