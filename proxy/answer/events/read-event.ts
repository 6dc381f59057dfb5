import { isUtf8 } from 'node:buffer'
import type { Splice } from '../../json/json-spans.ts'

interface Line {
  readonly inData: number
  readonly inText: number
}

/** The data of an event, and the text it is part of. */
export class EventData {
  /** The whole event, with its fields, comments and line ends. */
  readonly text: string
  readonly data: string
  readonly #lines: readonly Line[]

  constructor(text: string, data: string, lines: readonly Line[]) {
    this.text = text
    this.data = data
    this.#lines = lines
  }

  /** Translates a splice of a string in the data to the text: JSON has no line breaks in strings. */
  toText({ start, end, text }: Splice): Splice {
    const { inData, inText } = this.#lines.findLast((line) => line.inData <= start)!
    return { start: start - inData + inText, end: end - inData + inText, text }
  }
}

/** Reads an event; undefined if it has no data or is not UTF-8. */
export function readEvent(bytes: Buffer): EventData | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = bytes.toString()
  const lines: Line[] = []
  let data = ''
  // a stream may begin with a byte order mark
  for (let start = text.startsWith('\uFEFF') ? 1 : 0; start < text.length; ) {
    const end = lineEnd(text, start)
    if (text.startsWith('data:', start)) {
      if (lines.length > 0) data += '\n'
      const inText = start + (text[start + 5] === ' ' ? 6 : 5)
      lines.push({ inData: data.length, inText })
      data += text.slice(inText, end)
    }
    start = end + 1
  }
  return lines.length === 0 ? undefined : new EventData(text, data, lines)
}

function lineEnd(text: string, start: number): number {
  const sign = /[\r\n]/g
  sign.lastIndex = start
  return sign.exec(text)?.index ?? text.length
}
