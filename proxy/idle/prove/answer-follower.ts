import type { IncomingHttpHeaders } from 'node:http'
import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { eventsOf } from '#engine-adapters/read-usage.ts'
import { credentialsOf } from '../../access/engine-credentials.ts'
import { findAnswerTexts } from '../../answer/find-answer-texts.ts'

/** What is known of an answer once it is over. */
export interface FollowedAnswer {
  /** the headers by which the engine authorises the client: names and values, alternating */
  readonly headers: readonly string[]
  readonly answer: string
  readonly promptTokens: number | undefined
}

/** A longer answer is not kept. */
const mostBytes = 256 * 1024

/** Follows the answer to one request, and reads its text once it is over. */
export class AnswerFollower {
  readonly #api: PromptApi
  readonly #end: (followed: FollowedAnswer | undefined) => void
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #type: string | undefined
  #headers: readonly string[] = []
  #promptTokens: number | undefined

  constructor(api: PromptApi, end: (followed: FollowedAnswer | undefined) => void) {
    this.#api = api
    this.#end = end
  }

  sent({ headers }: { readonly headers: readonly string[] }): void {
    this.#headers = credentialsOf(headers)
  }

  onHead(_status: number, headers: IncomingHttpHeaders): void {
    if ((headers['content-encoding'] ?? 'identity') === 'identity') this.#type = headers['content-type'] ?? ''
  }

  onChunk(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes <= mostBytes) this.#chunks.push(Buffer.from(chunk))
    else this.#chunks.length = 0
  }

  used({ promptTokens }: { readonly promptTokens: number }): void {
    this.#promptTokens = promptTokens
  }

  /** The request is over; `wasRun`: the engine answered it to its end. */
  ended(wasRun: boolean): void {
    const answer = wasRun ? this.#read() : undefined
    this.#end(answer ? { answer, headers: this.#headers, promptTokens: this.#promptTokens } : undefined)
  }

  /** Returns the one text of the answer; undefined if it has none or several, or is too long. */
  #read(): string | undefined {
    if (this.#type === undefined || this.#bytes > mostBytes) return undefined
    const said = Buffer.concat(this.#chunks).toString()
    const texts = this.#type.startsWith('text/event-stream')
      ? this.#readStream(said)
      : findAnswerTexts(this.#api, tryJson(said)).texts.map(({ text }) => text)
    return texts.length === 1 ? texts[0] : undefined
  }

  #readStream(stream: string): string[] {
    const texts = new Map<string, string>()
    // the last event of a stream is no JSON
    for (const data of eventsOf(stream)) {
      for (const { of, text, isCumulative } of findAnswerTexts(this.#api, tryJson(data)).texts) {
        if (of !== undefined) texts.set(of, isCumulative ? text : (texts.get(of) ?? '') + text)
      }
    }
    return [...texts.values()]
  }
}
