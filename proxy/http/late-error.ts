import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { anthropicTypeOf } from '../common/errors.ts'

/** Longer errors are cut off. */
const longestError = 64 * 1024

/** An error that arrives after a stream has been started: it becomes the last event, in the API's format. */
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

/** Returns JSON as it came but on one line; anything else becomes the message of an error. */
function toOneLine(body: string, api: PromptApi | undefined, status: number): string {
  // JSON strings contain no raw line breaks
  if (tryJson(body) !== undefined) return body.replaceAll(/[\r\n]+/g, ' ')
  if (api === 'messages')
    return JSON.stringify({ type: 'error', error: { type: anthropicTypeOf(status), message: body } })
  return JSON.stringify({ error: { message: body, type: 'engine_error', param: null, code: status } })
}
