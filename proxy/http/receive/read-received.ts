import { isUtf8 } from 'node:buffer'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../../common/errors.ts'
import type { SkippedReason } from '../../common/reasons.ts'
import type { PromptBody } from '../../prompt/body/prompt-body.ts'
import { readPromptBody } from '../../prompt/formats/read-prompt-body.ts'
import { applyHygiene, type HygieneSettings } from '../../prompt/hygiene/apply-hygiene.ts'
import { placeBehindHistory } from '../../prompt/hygiene/place-behind-history.ts'
import type { UnreadBytes, WholeBody } from '../bounds/whole-body.ts'
import { beginsObject } from './begins-object.ts'

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
  const { placed, fault } = place(api, prompt, hygiene)
  const tidy = tidyUp(api, placed ?? prompt, hygiene)
  return {
    ...tidy,
    skipped: prompt.set ? undefined : reasonFor(prompt),
    tidied: [...(placed ? ['placement'] : []), ...tidy.tidied],
    fault: tidy.fault ?? fault,
  }
}

const byteOrderMark = Buffer.from('\uFEFF')

const none: HygieneSettings = { sort_tools: false, behind_history: [] }

function place(
  api: PromptApi,
  prompt: PromptBody,
  { behind_history }: HygieneSettings,
): { readonly placed?: PromptBody | undefined; readonly fault?: unknown } {
  try {
    return { placed: placeBehindHistory(api, prompt, behind_history) }
  } catch (fault) {
    return { fault }
  }
}

function tidyUp(api: PromptApi, prompt: PromptBody, hygiene: HygieneSettings): Omit<Received, 'skipped'> {
  try {
    const clean = applyHygiene(prompt.json, hygiene)
    if (!clean) return { prompt, tidied: [], fault: undefined }
    return { prompt: readPromptBody(api, Buffer.from(clean)), tidied: ['tools'], fault: undefined }
  } catch (fault) {
    return { prompt, tidied: [], fault }
  }
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
