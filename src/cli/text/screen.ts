/** What the screen needs from a terminal, such as `process.stdout`. */
export interface Terminal {
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
}

const ESC = '\x1b['
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}2J`
const LEAVE = `${ESC}0m${ESC}?25h${ESC}?1049l`
// Terminals that know this code show the frame all at once; others ignore it.
const BEGIN = `${ESC}?2026h`
const END = `${ESC}?2026l`

/** Draws pictures of a fixed size, or as large as the terminal (`Infinity`), in the middle of the alternate screen. It writes only the lines that changed. */
export class Screen {
  readonly #terminal: Terminal
  readonly #width: number
  readonly #height: number
  #shown: readonly string[] = []
  #size = ''
  #entered = false

  constructor(terminal: Terminal, width: number, height: number) {
    this.#terminal = terminal
    this.#width = width
    this.#height = height
  }

  /** Whether the terminal is large enough now. */
  get fits(): boolean {
    const { columns = 0, rows = 0 } = this.#terminal
    return columns >= this.#width && rows >= this.#height
  }

  enter(): void {
    if (this.#entered) return
    this.#entered = true
    this.#shown = []
    this.#terminal.write(ENTER)
  }

  draw(lines: readonly string[]): void {
    if (!this.#entered) return
    const { columns = this.#width, rows = this.#height } = this.#terminal
    const size = `${String(columns)}x${String(rows)}`
    const resized = size !== this.#size
    if (resized) this.#shown = []
    this.#size = size
    const left = Math.max(0, Math.floor((columns - this.#width) / 2)) + 1
    const top = Math.max(0, Math.floor((rows - this.#height) / 2)) + 1
    let text = resized ? `${ESC}2J` : ''
    lines.forEach((line, index) => {
      if (line === this.#shown[index]) return
      // Every line fills the width, so nothing has to be erased first, which would flicker.
      text += `${ESC}${String(top + index)};${String(left)}H${line}`
    })
    this.#shown = [...lines]
    if (text !== '') this.#terminal.write(BEGIN + text + END)
  }

  /** Restores the terminal; safe to call twice. */
  leave(): void {
    if (!this.#entered) return
    this.#entered = false
    this.#size = ''
    this.#terminal.write(LEAVE)
  }
}
