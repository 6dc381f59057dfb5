import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { anthropicTypeOf } from '../common/errors.ts'

/** Longer errors are cut off. */
export const longestError: number = 64 * 1024

/** Returns the event, in the API's format, that an error becomes if it arrives after a stream has been started. */
export function toErrorEvent(error: Buffer, api: PromptApi | undefined, status: number): Buffer {
  const body = error.toString()
  const name = api === 'messages' || api === 'responses' ? 'event: error\n' : ''
  return Buffer.from(`${name}data: ${toOneLine(body.slice(0, longestError), api, status)}\n\n`)
}

/** Returns JSON as it came but on one line; anything else becomes the message of an error. */
function toOneLine(body: string, api: PromptApi | undefined, status: number): string {
  // JSON strings contain no raw line breaks
  if (tryJson(body) !== undefined) return body.replaceAll(/[\r\n]+/g, ' ')
  if (api === 'messages')
    return JSON.stringify({ type: 'error', error: { type: anthropicTypeOf(status), message: body } })
  return JSON.stringify({ error: { message: body, type: 'engine_error', param: null, code: status } })
}
