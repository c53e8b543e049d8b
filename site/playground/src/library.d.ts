/** The text of worker.ts, bundled with the library. */
declare module 'library' {
  const text: string
  export default text
}
