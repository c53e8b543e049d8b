/** Work has ended under these holds, and the server is being told how. Until it knows, a client that closes keeps them: free, they would be taken over. */
export class EndsBeingStored {
  readonly #steps = new Map<string, Promise<unknown>>()

  /** `storing` never rejects. */
  add(wire: string, storing: Promise<unknown>): void {
    this.#steps.set(wire, storing)
    void storing.then(() => this.#steps.delete(wire))
  }

  /** Settles when the hold may be freed. */
  of(wire: string | undefined): Promise<unknown> | undefined {
    return wire === undefined ? undefined : this.#steps.get(wire)
  }
}
