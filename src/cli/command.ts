/** An option of a command: as `parseArgs` reads it, and as the help and the completion of a shell show it. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  readonly default?: string | boolean
  /** What the help calls its value. A switch has none. */
  readonly value?: string
  readonly help: string
  /** Values that the completion offers. */
  readonly words?: readonly string[]
  /** The value is the path of a file. */
  readonly file?: true
}

export type Options = Readonly<Record<string, Option>>

/** Everything that the help of a command says. */
export interface Page {
  /** A line for each form, without `holdfast`. */
  readonly usage: readonly [string, ...string[]]
  readonly about: string
  readonly options: Options
  /** Arguments that the completion offers: these words, or the names of the commands. */
  readonly words?: readonly string[] | 'commands'
  /** The arguments behind the first one are paths of files. */
  readonly files?: true
  /** What stands behind the options, such as examples. Its lines stay as they are. */
  readonly more: string
}

/** A command. `run` gets the arguments after the command's name, and returns the exit code. */
export interface Command {
  readonly page: Page
  run(args: readonly string[], all: readonly Entry[]): Promise<number>
}

/** A line of the table of commands. */
export interface Entry {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}
