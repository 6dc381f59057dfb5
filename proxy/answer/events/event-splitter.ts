import { GatheredBytes } from './gathered-bytes.ts'

const lf = 0x0a
const cr = 0x0d

/**
 * A stretch of an event stream: a whole event with its blank line, a part of an event that is too long to gather, or a
 * line feed that was separated from the carriage return before it.
 */
export interface StreamPart {
  readonly kind: 'event' | 'fragment' | 'line_feed'
  readonly bytes: Buffer
}

/**
 * Splits an event stream into its events, whatever the chunks and line ends; the parts put together are the stream. An
 * event of more than `longestEvent` bytes is not gathered but passed on as it arrives. Linear in the stream.
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

  /** Returns what follows the last blank line, once the stream is over. */
  end(): Buffer {
    return this.#gathered.take()
  }

  /** Returns where the next blank line of the chunk ends; 0 if it has none. */
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

  /** Returns 1 if the carriage return just passed and this byte are one line end. */
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

/** Skips bytes that certainly end no line; most do not. */
function skipText(chunk: Buffer, start: number): number {
  let at = start
  while (at < chunk.length && chunk[at]! > cr) at += 1
  return at
}
