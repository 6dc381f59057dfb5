import { isUtf8 } from 'node:buffer'
import { applySplices, type Splice } from '../../common/json/json-spans.ts'
import type { JsonPath } from '../../common/json/json-value.ts'
import { spliceString } from '../splice-string.ts'

/** An event that is sent on once all of its texts are decided. */
export class HeldEvent {
  /** As received. */
  readonly bytes: Buffer
  /** How many of its texts are undecided. */
  undecided = 0
  /** The whole event, with its fields, comments and line ends. */
  #text = ''
  #data: string | undefined
  /** where each line of its data begins, in the data and in the text */
  readonly #lines: { readonly inData: number; readonly inText: number }[] = []
  readonly #splices: Splice[] = []

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Its data; without it the event cannot be changed. */
  get data(): string | undefined {
    return this.#data
  }

  /** Finds its data; there is none if it is not UTF-8. */
  read(): void {
    if (!isUtf8(this.bytes)) return
    const text = this.bytes.toString()
    let data = ''
    // a stream may begin with a byte order mark
    for (let start = text.startsWith('\uFEFF') ? 1 : 0; start < text.length; ) {
      const end = lineEnd(text, start)
      if (text.startsWith('data:', start)) {
        if (this.#lines.length > 0) data += '\n'
        const inText = start + (text[start + 5] === ' ' ? 6 : 5)
        this.#lines.push({ inData: data.length, inText })
        data += text.slice(inText, end)
      }
      start = end + 1
    }
    this.#text = text
    if (this.#lines.length > 0) this.#data = data
  }

  /** Changes the string at `path` in its data. JSON has no line breaks in strings, so each change is within a line. */
  change(path: JsonPath, changes: readonly Splice[]): void {
    if (this.#data === undefined || changes.length === 0) return
    for (const { start, end, text } of spliceString(this.#data, path, changes)) {
      const { inData, inText } = this.#lines.findLast((line) => line.inData <= start)!
      this.#splices.push({ start: start - inData + inText, end: end - inData + inText, text })
    }
  }

  /** Returns the event as it is sent: every byte outside labels is as received. */
  toBytes(): Buffer {
    return this.#splices.length === 0 ? this.bytes : Buffer.from(applySplices(this.#text, this.#splices))
  }
}

function lineEnd(text: string, start: number): number {
  const sign = /[\r\n]/g
  sign.lastIndex = start
  return sign.exec(text)?.index ?? text.length
}
