/** The types of playwright-core name these. The tests need nothing of them, and with the whole of the DOM `fetch` would have two types. */
interface Node {
  readonly nodeType: number
}
interface SVGElement {
  readonly nodeType: number
}
interface HTMLElement {
  readonly nodeType: number
}
type HTMLElementTagNameMap = Readonly<Record<string, HTMLElement>>
