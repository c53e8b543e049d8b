import process from 'node:process'

interface Handle {
  readonly type: string
  readonly is_active: boolean
  readonly is_referenced: boolean
  readonly pid?: number
  readonly remoteEndpoint?: { readonly port: number } | null
}

/** To be called when a test file is through: where its process does not end all the same, its output says why. */
export const tellWhatLingers = (): void => {
  console.log('all is stopped')
  setTimeout(() => {
    const { libuv } = process.report?.getReport() as unknown as { readonly libuv: readonly Handle[] }
    for (const { type, is_active, is_referenced, pid, remoteEndpoint } of libuv) {
      if (is_active && is_referenced) console.log(`still here: ${type} ${pid ?? remoteEndpoint?.port ?? ''}`)
    }
  }, 10_000).unref()
}
