import { isUtf8 } from 'node:buffer'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../../common/errors.ts'
import type { SkippedReason } from '../../common/reasons.ts'
import type { PromptBody } from '../../prompt/body/prompt-body.ts'
import { readPromptBody } from '../../prompt/formats/read-prompt-body.ts'
import { applyHygiene, type HygieneSettings } from '../../prompt/hygiene/apply-hygiene.ts'
import { placeBehindHistory } from '../../prompt/hygiene/place-behind-history.ts'
import type { UnreadBytes, WholeBody } from '../bounds/whole-body.ts'

/** A request body as far as it could be understood. */
export interface Received {
  /** undefined if the body is encoded, not a JSON object, or too large to parse */
  readonly prompt: PromptBody | undefined
  /** set if the body is too large to parse */
  readonly whole?: WholeBody | undefined
  /** identifies a prompt that is not read to its end; undefined for small bodies and for several prompts */
  readonly bytes?: UnreadBytes | undefined
  /** what was tidied up: `placement`, `tools`. If not empty, the prompt's body differs from the one received */
  readonly tidied: readonly string[]
  /** an internal error while tidying up */
  readonly fault: unknown
  /** why its prompt cannot be rewritten; undefined if it can */
  readonly skipped: SkippedReason | undefined
}

/** white space, byte order marks, and what other encodings of Unicode put around ASCII */
const mayPrecede: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff, 0x00])
const brace = 0x7b

/**
 * Returns whether a body begins like a JSON object, in UTF-8, UTF-16 or UTF-32. Engines read all three and ignore
 * `content-encoding`. They would read such a body even if its header calls it compressed.
 */
export function beginsObject(body: Buffer): boolean {
  let at = 0
  while (at < body.length && mayPrecede.has(body[at]!)) at++
  return body[at] === brace
}

/** Reads the body of a request. Throws `invalid_body` for client mistakes. */
export function readReceived(
  api: PromptApi,
  body: Buffer,
  isEncoded: boolean,
  hygiene: HygieneSettings = none,
): Received {
  const unread = { prompt: undefined, tidied: [], fault: undefined }
  if (isEncoded && !beginsObject(body)) return { ...unread, skipped: 'encoded_body' }
  if (!isUtf8(body)) throw new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
  const prompt = readPromptBody(api, withoutByteOrderMark(body))
  if (!prompt) return { ...unread, skipped: 'unexpected_shape' }
  // nothing is tidied up in a prompt that its caller measures
  if (prompt.set && prompt.demands.asReceived) return { ...unread, prompt, skipped: undefined }
  return { ...tidyUp(api, prompt, hygiene), skipped: prompt.set ? undefined : reasonFor(prompt) }
}

const byteOrderMark = Buffer.from('\uFEFF')

const none: HygieneSettings = { sort_tools: false, behind_history: [] }

/** Puts a prompt in order, as far as is configured; a fault leaves it as it was. */
function tidyUp(api: PromptApi, given: PromptBody, hygiene: HygieneSettings): Omit<Received, 'skipped'> {
  let prompt = given
  let fault: unknown
  const tidied: string[] = []
  const tidy = (step: string, change: () => PromptBody | undefined): void => {
    try {
      const changed = change()
      if (!changed) return
      prompt = changed
      tidied.push(step)
    } catch (error) {
      fault = error
    }
  }
  tidy('placement', () => placeBehindHistory(api, prompt, hygiene.behind_history))
  tidy('tools', () => {
    const clean = applyHygiene(prompt.json, hygiene)
    return clean === undefined ? undefined : readPromptBody(api, Buffer.from(clean))
  })
  return { prompt, tidied, fault }
}

/** Says why a prompt has no texts to rewrite. Token ids mean something only to the engine. */
function reasonFor({ fault, members: { prompt, input_ids: inputIds } }: PromptBody): SkippedReason {
  if (fault !== undefined) return 'internal_error'
  const ids = prompt ?? inputIds
  return areTokens(ids) ? 'token_ids' : 'unexpected_shape'
}

/** One list of numbers, or several. */
function areTokens(ids: unknown): boolean {
  return areNumbers(ids) || (Array.isArray(ids) && ids.length > 0 && ids.every(areNumbers))
}

function areNumbers(ids: unknown): boolean {
  return Array.isArray(ids) && ids.length > 0 && ids.every((id) => typeof id === 'number')
}

/** Removes the byte order mark, which `JSON.parse` does not accept. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return hasByteOrderMark(bytes) ? bytes.subarray(byteOrderMark.length) : bytes
}

/** Puts the byte order mark of the bytes that were read, if they had one, before the rewritten bytes. */
export function behindByteOrderMark(read: Buffer, written: Buffer): Buffer {
  return hasByteOrderMark(read) ? Buffer.concat([byteOrderMark, written]) : written
}

function hasByteOrderMark(bytes: Buffer): boolean {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
}
