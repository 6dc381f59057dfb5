const lf = 0x0a
const cr = 0x0d
/** enough for the end of a line and the end of the line before it */
const keptBytes = 3

/** Follows an event stream and says whether it is between two events, where a comment may be inserted. */
export class EventBoundary {
  /** the last bytes; begins as if after a blank line */
  #tail: readonly number[] = [lf, lf]

  push(chunk: Buffer): void {
    const { length } = chunk
    if (length >= keptBytes) this.#tail = [chunk[length - 3]!, chunk[length - 2]!, chunk[length - 1]!]
    else if (length > 0) this.#tail = [...this.#tail, ...chunk].slice(-keptBytes)
  }

  /** Whether nothing was sent yet, or a blank line was sent last. */
  get isAtBoundary(): boolean {
    const last = this.#tail.at(-1)
    const hasTwoBytes = last === lf && this.#tail.at(-2) === cr
    return isLineEnd(last) && isLineEnd(this.#tail.at(hasTwoBytes ? -3 : -2))
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === lf || byte === cr
}
