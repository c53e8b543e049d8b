/** What a server's main thread has used so far, ms; `info`: its `INFO cpu`. */
export const cpuOf = (info: string): number =>
  [...info.matchAll(/used_cpu_(?:sys|user)_main_thread:([\d.]+)/g)].reduce(
    (sum, [, seconds]) => sum + 1000 * Number(seconds),
    0,
  )
