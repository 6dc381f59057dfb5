import { isUtf8 } from 'node:buffer'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { UnreadBytes, WholeBody } from '../../bounds/whole-body.ts'
import { type SeparatedBody, type SeparatedText, takeOutSeparators } from '../../chunks/separators.ts'
import { ProxyError } from '../../errors.ts'
import { applyHygiene, type HygieneSettings } from '../../hygiene/apply-hygiene.ts'
import type { Json } from '../../prompt/body/prompt-builder.ts'
import { type PromptBody, readPromptBody } from '../../prompt/prompt-body.ts'

/** A request body as far as it could be understood. */
export interface Received {
  /** undefined when it is encoded, or no JSON object, or too large to be parsed */
  readonly prompt: PromptBody | undefined
  /** a body that is too large to be parsed */
  readonly whole?: WholeBody | undefined
  /** what it is known by where it is not read to its end; undefined for a small one, and for several prompts */
  readonly bytes?: UnreadBytes | undefined
  /**
   * what of it was tidied up, so that the prompt's body is no longer the one received: `tools`, `volatile_text`,
   * `separators`
   */
  readonly tidied: readonly string[]
  /** by place among its texts: where separators stood */
  readonly separated?: ReadonlyMap<number, SeparatedText> | undefined
  /** a fault of ours while that was tried */
  readonly fault: unknown
  /** why its prompt cannot be rewritten; undefined when it can */
  readonly skipped: string | undefined
}

/** The members of a body, as far as they were read. */
export function membersOf({ prompt, whole }: Pick<Received, 'prompt' | 'whole'>): Json {
  return prompt?.members ?? whole?.members ?? {}
}

/** Reads the body of a request; throws `invalid_body` for what the client must mend. */
export function readReceived(
  api: PromptApi,
  body: Buffer,
  isEncoded: boolean,
  hygiene: HygieneSettings = none,
  separator = '',
): Received {
  const unread = { prompt: undefined, tidied: [], fault: undefined }
  // an engine that does not look at the header reads what is JSON all the same
  if (isEncoded && !isJson(body)) return { ...unread, skipped: 'encoded_body' }
  if (!isUtf8(body)) throw new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
  const prompt = readPromptBody(api, withoutByteOrderMark(body))
  if (!prompt) return { ...unread, skipped: 'unexpected_shape' }
  const parted = part(api, prompt, separator)
  const { tidied, ...tidy } = tidyUp(api, parted?.prompt ?? prompt, hygiene)
  return {
    separated: parted?.separated,
    skipped: prompt.set ? undefined : reasonFor(prompt),
    tidied: parted ? ['separators', ...tidied] : tidied,
    ...tidy,
  }
}

const byteOrderMark = Buffer.from('\uFEFF')

const none: HygieneSettings = { sortTools: false, moveVolatileHeaders: false }

function part(api: PromptApi, prompt: PromptBody, separator: string): SeparatedBody | undefined {
  try {
    return takeOutSeparators(api, prompt, separator)
  } catch {
    // values nested so deeply that they cannot be written again
    return undefined
  }
}

function tidyUp(api: PromptApi, prompt: PromptBody, hygiene: HygieneSettings): Omit<Received, 'skipped'> {
  try {
    const clean = applyHygiene(prompt.json, hygiene)
    if (!clean) return { prompt, tidied: [], fault: undefined }
    const tidied = [...(clean.hasSortedTools ? ['tools'] : []), ...(clean.movedLines > 0 ? ['volatile_text'] : [])]
    return { prompt: readPromptBody(api, Buffer.from(clean.body)), tidied, fault: undefined }
  } catch (fault) {
    return { prompt, tidied: [], fault }
  }
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(withoutByteOrderMark(body).toString())
    return isUtf8(body)
  } catch {
    return false
  }
}

/** Token ids are the engine's to read. */
function reasonFor({ fault, members: { prompt, input_ids: inputIds } }: PromptBody): string {
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

/** A text as JSON wants it. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return hasByteOrderMark(bytes) ? bytes.subarray(byteOrderMark.length) : bytes
}

/** Bytes that were written anew, behind the byte order mark of those they were read from, if there is one. */
export function behindByteOrderMark(read: Buffer, written: Buffer): Buffer {
  return hasByteOrderMark(read) ? Buffer.concat([byteOrderMark, written]) : written
}

function hasByteOrderMark(bytes: Buffer): boolean {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
}
