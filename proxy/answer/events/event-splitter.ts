import { GatheredBytes } from './gathered-bytes.ts'

const lf = 0x0a
const cr = 0x0d

/**
 * A stretch of an event stream: a whole event with its blank line, a part of an event that is too long to gather, or
 * the line feed that came apart from the carriage return in front of it.
 */
export interface StreamPart {
  readonly kind: 'event' | 'fragment' | 'line_feed'
  readonly bytes: Buffer
}

/**
 * Cuts an event stream into its events, whatever the chunks and line ends; the parts put together are the stream.
 * An event of more than `longestEvent` bytes is not gathered but passed on as it comes in. Linear in the stream.
 */
export class EventSplitter {
  readonly #longestEvent: number
  readonly #gathered = new GatheredBytes()
  #isTooLong = false
  #isLineStart = true
  #isBehindCr = false

  constructor(longestEvent: number) {
    this.#longestEvent = longestEvent
  }

  push(chunk: Buffer): StreamPart[] {
    const parts: StreamPart[] = []
    let start = 0
    if (this.#isBehindCr && chunk[0] === lf && this.#gathered.length === 0 && !this.#isTooLong) {
      parts.push({ kind: 'line_feed', bytes: chunk.subarray(0, 1) })
      this.#isBehindCr = false
      start = 1
    }
    for (let end = this.#findEnd(chunk, start); end > 0; end = this.#findEnd(chunk, start)) {
      this.#add(chunk.subarray(start, end), parts)
      this.#finish(parts)
      start = end
    }
    this.#add(chunk.subarray(start), parts)
    return parts
  }

  /** What stands behind the last blank line when the stream is over. */
  end(): Buffer {
    return this.#gathered.take()
  }

  /** Where the next blank line of the chunk ends; 0 if it has none. */
  #findEnd(chunk: Buffer, start: number): number {
    for (let i = start; i < chunk.length; i++) {
      const next = skipText(chunk, i)
      if (next > i) {
        this.#isLineStart = false
        this.#isBehindCr = false
        if (next === chunk.length) break
        i = next
      }
      const byte = chunk[i]!
      const isSecondOfTwo = byte === lf && this.#isBehindCr
      this.#isBehindCr = byte === cr
      if (isSecondOfTwo) continue
      const isLineEnd = byte === lf || byte === cr
      const isBlankLine = isLineEnd && this.#isLineStart
      this.#isLineStart = isLineEnd
      if (isBlankLine) return i + 1 + this.#takeLineFeed(chunk[i + 1])
    }
    return 0
  }

  /** 1 if the carriage return just passed and this byte are one line end. */
  #takeLineFeed(next: number | undefined): 0 | 1 {
    if (!this.#isBehindCr || next !== lf) return 0
    this.#isBehindCr = false
    return 1
  }

  #add(bytes: Buffer, parts: StreamPart[]): void {
    if (bytes.length === 0) return
    this.#gathered.add(bytes)
    this.#isTooLong ||= this.#gathered.length > this.#longestEvent
    if (this.#isTooLong) parts.push({ kind: 'fragment', bytes: this.#gathered.take() })
  }

  #finish(parts: StreamPart[]): void {
    if (!this.#isTooLong) parts.push({ kind: 'event', bytes: this.#gathered.take() })
    this.#isTooLong = false
  }
}

/** Over the bytes that end no line for sure; most do not. */
function skipText(chunk: Buffer, start: number): number {
  let at = start
  while (at < chunk.length && chunk[at]! > cr) at += 1
  return at
}
