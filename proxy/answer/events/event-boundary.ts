const lf = 0x0a
const cr = 0x0d
/** enough to hold the end of a line and what ended the one before it */
const keptBytes = 3

/** Follows an event stream and says whether it stands between two events, where a comment may be put. */
export class EventBoundary {
  /** the last bytes, the first ones behind an imagined blank line */
  #tail: readonly number[] = [lf, lf]

  push(chunk: Buffer): void {
    const { length } = chunk
    if (length >= keptBytes) this.#tail = [chunk[length - 3]!, chunk[length - 2]!, chunk[length - 1]!]
    else if (length > 0) this.#tail = [...this.#tail, ...chunk].slice(-keptBytes)
  }

  /** Nothing was sent yet, or a blank line was the last thing. */
  get isAtBoundary(): boolean {
    const last = this.#tail.at(-1)
    const hasTwoBytes = last === lf && this.#tail.at(-2) === cr
    return isLineEnd(last) && isLineEnd(this.#tail.at(hasTwoBytes ? -3 : -2))
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === lf || byte === cr
}
