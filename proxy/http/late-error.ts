import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { anthropicTypeOf } from '../errors.ts'

/** A longer error is not told whole. */
const longestError = 64 * 1024

/** An answer that comes when its client has been promised a stream: told as the last event, in the API's shape. */
export class LateError {
  readonly #api: PromptApi | undefined
  readonly #status: number
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(api: PromptApi | undefined, status: number) {
    this.#api = api
    this.#status = status
  }

  push(chunk: Buffer): void {
    if (this.#size < longestError) this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  /** The event. */
  end(): Buffer {
    const body = Buffer.concat(this.#chunks).toString().slice(0, longestError)
    const name = this.#api === 'messages' || this.#api === 'responses' ? 'event: error\n' : ''
    return Buffer.from(`${name}data: ${toOneLine(body, this.#api, this.#status)}\n\n`)
  }
}

/** JSON on one line as it came, and anything else as the message of an error. */
function toOneLine(body: string, api: PromptApi | undefined, status: number): string {
  try {
    JSON.parse(body)
    // no string of JSON holds a line break
    return body.replaceAll(/[\r\n]+/g, ' ')
  } catch {
    if (api === 'messages')
      return JSON.stringify({ type: 'error', error: { type: anthropicTypeOf(status), message: body } })
    return JSON.stringify({ error: { message: body, type: 'engine_error', param: null, code: status } })
  }
}
