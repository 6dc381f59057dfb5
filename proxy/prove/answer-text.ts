import type { IncomingHttpHeaders } from 'node:http'
import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { EventSplitter } from '../answer/events/event-splitter.ts'
import { findEventTexts } from '../answer/events/find-event-texts.ts'
import { HeldEvent } from '../answer/events/held-event.ts'
import { findAnswerTexts } from '../answer/find-answer-texts.ts'

/** A longer answer is not kept. */
const mostBytes = 256 * 1024

/** Keeps what an engine answers, and reads its text once it is over. */
export class AnswerText {
  readonly #api: PromptApi
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #type: string | undefined

  constructor(api: PromptApi) {
    this.#api = api
  }

  onHead(_status: number, headers: IncomingHttpHeaders): void {
    if ((headers['content-encoding'] ?? 'identity') === 'identity') this.#type = headers['content-type'] ?? ''
  }

  onChunk(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes <= mostBytes) this.#chunks.push(Buffer.from(chunk))
    else this.#chunks.length = 0
  }

  /** Returns the one text of the answer; undefined if it has none or several, or is too long. */
  read(): string | undefined {
    if (this.#type === undefined || this.#bytes > mostBytes) return undefined
    const bytes = Buffer.concat(this.#chunks)
    const texts = this.#type.startsWith('text/event-stream') ? this.#readStream(bytes) : this.#readBody(bytes)
    return texts.length === 1 ? texts[0] : undefined
  }

  #readBody(bytes: Buffer): string[] {
    return findAnswerTexts(this.#api, tryJson(bytes.toString())).map(({ text }) => text)
  }

  #readStream(bytes: Buffer): string[] {
    const texts = new Map<string, string>()
    for (const part of new EventSplitter(mostBytes).push(bytes)) {
      const event = new HeldEvent(part.bytes)
      if (part.kind === 'event') event.read()
      if (event.data === undefined) continue
      // the last event of a stream is no JSON
      for (const { of, text, isCumulative } of findEventTexts(this.#api, tryJson(event.data)).texts) {
        if (of !== undefined) texts.set(of, isCumulative ? text : (texts.get(of) ?? '') + text)
      }
    }
    return [...texts.values()]
  }
}
