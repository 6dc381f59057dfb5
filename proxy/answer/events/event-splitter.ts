import { GatheredBytes } from '../../common/gathered-bytes.ts'

const lf = 0x0a

/**
 * A stretch of an event stream: a whole event with its blank line, a part of an event that is too long to gather, or a
 * line feed that was separated from the carriage return before it.
 */
export interface StreamPart {
  readonly kind: 'event' | 'fragment' | 'line_feed'
  readonly bytes: Buffer
}

const emptyLine = /\r\n|\n|\r/y
const lineAndEmptyLine = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g
/** The longest end of a line. */
const longestLineEnd = 2

/**
 * Splits an event stream into its events, whatever the chunks and line ends; the parts put together are the stream. An
 * event of more than `longestEvent` bytes is not gathered but passed on as it arrives. Linear in the stream.
 */
export class EventSplitter {
  readonly #longestEvent: number
  readonly #gathered = new GatheredBytes()
  #isTooLong = false
  /** the last characters of an event that has begun, which may end its line */
  #tail = ''
  /** the last event ended with a carriage return, whose line feed may follow */
  #isBehindReturn = false

  constructor(longestEvent: number) {
    this.#longestEvent = longestEvent
  }

  push(chunk: Buffer): StreamPart[] {
    const parts: StreamPart[] = []
    let start = 0
    if (this.#isBehindReturn && chunk[0] === lf) {
      parts.push({ kind: 'line_feed', bytes: chunk.subarray(0, 1) })
      start = 1
    }
    if (chunk.length > 0) this.#isBehindReturn = false
    const text = this.#tail + chunk.toString('latin1', start)
    const shift = start - this.#tail.length
    let from = 0
    for (let end = this.#findEnd(text, from); end > 0; end = this.#findEnd(text, from)) {
      this.#add(chunk.subarray(start, end + shift), parts)
      this.#finish(parts)
      this.#isBehindReturn = end === text.length && text.endsWith('\r')
      from = end
      start = end + shift
    }
    this.#add(chunk.subarray(start), parts)
    this.#tail = text.slice(Math.max(from, text.length - longestLineEnd))
    return parts
  }

  /** Returns what follows the last blank line, once the stream is over. */
  end(): Buffer {
    return this.#gathered.take()
  }

  /** Returns where the next event ends in a text, from the place where it begins, or goes on; 0 if it has no end. */
  #findEnd(text: string, from: number): number {
    emptyLine.lastIndex = from
    if (this.#gathered.length === 0 && !this.#isTooLong && emptyLine.test(text)) return emptyLine.lastIndex
    lineAndEmptyLine.lastIndex = from
    return lineAndEmptyLine.test(text) ? lineAndEmptyLine.lastIndex : 0
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
