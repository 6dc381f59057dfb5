import { isUtf8 } from 'node:buffer'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../../common/errors.ts'
import { notUtf8 } from '../../common/json/json-value.ts'
import type { SkippedReason } from '../../common/reasons.ts'
import { readExplicitContext } from '../../prompt/body/explicit-context.ts'
import { countMessages } from '../../prompt/body/prompt.ts'
import type { PromptBody } from '../../prompt/body/prompt-body.ts'
import { readPromptBody } from '../../prompt/formats/read-prompt-body.ts'
import { type HygieneSettings, orderTools } from '../../prompt/hygiene/order-tools.ts'
import { placeBehindHistory } from '../../prompt/hygiene/place-behind-history.ts'
import type { HeavyTurns } from '../bounds/event-loop.ts'
import { type BodyScan, scanBody } from '../bounds/scan-body.ts'
import { decidingMembers, WholeBody } from '../bounds/whole-body.ts'
import { lightBytes, lightContainers, most, tooLarge, type WorkLimits } from '../bounds/work-limits.ts'

/** A request body as far as it could be understood. */
export interface Received {
  /** undefined if the body is encoded, not a JSON object, or too large to parse */
  readonly prompt: PromptBody | undefined
  /** set if the body is too large to parse */
  readonly whole?: WholeBody | undefined
  /** identifies a prompt that is not read to its end; undefined for small bodies and for several prompts */
  readonly scan?: Pick<BodyScan, 'bytes' | 'digest'> | undefined
  /** what was tidied up: `placement`, `tools`. If not empty, the prompt's body differs from the one received */
  readonly tidied: readonly string[]
  /** an internal error while tidying up */
  readonly fault: unknown
  /** why its prompt cannot be rewritten; undefined if it can */
  readonly skipped: SkippedReason | undefined
}

/** What was not read. */
export const unread = { prompt: undefined, tidied: [], fault: undefined } as const

/** white space, byte order marks, and what other encodings of Unicode put around ASCII */
const mayPrecede: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff, 0x00])
const brace = 0x7b

/**
 * Returns whether a body begins like a JSON object, in UTF-8, UTF-16 or UTF-32. Engines read all three and ignore
 * `content-encoding`. They would read such a body even if its header calls it compressed.
 */
function beginsObject(body: Buffer): boolean {
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
  if (isEncoded && !beginsObject(body)) return { ...unread, skipped: 'encoded_body' }
  if (!isUtf8(body)) throw notUtf8()
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
    const clean = hygiene.sort_tools ? orderTools(prompt.json) : undefined
    return clean === undefined ? undefined : readPromptBody(api, Buffer.from(clean))
  })
  return { prompt, tidied, fault }
}

/** Says why a prompt has no texts to rewrite. Token ids mean something only to the engine. */
function reasonFor({ fault, members: { prompt, input_ids: inputIds } }: PromptBody): SkippedReason {
  if (fault !== undefined) return 'internal_error'
  const ids = prompt ?? inputIds
  // one list of numbers, or several
  const areTokens = areNumbers(ids) || (Array.isArray(ids) && ids.length > 0 && ids.every(areNumbers))
  return areTokens ? 'token_ids' : 'unexpected_shape'
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

/** Parsing a smaller body is faster than scanning it. */
const scannedBytes = 16 * 1024

interface ReadingOptions {
  readonly isEncoded: boolean
  readonly hygiene: HygieneSettings | undefined
  readonly limits: WorkLimits
  readonly turns: Pick<HeavyTurns, 'take'>
}

/** A body read as far as the limits allow. */
export interface BoundedBody {
  readonly received: Received
  /** deciding about it takes so long that other requests should be served first */
  readonly isHeavy: boolean
}

/**
 * Reads a body if that takes no longer than other requests can wait. A larger one is left whole, with
 * `too_large_to_rewrite` as the reason. Throws a `ProxyError` for client mistakes.
 */
export async function readWithinLimits(api: PromptApi, body: Buffer, options: ReadingOptions): Promise<BoundedBody> {
  const { isEncoded, hygiene, limits, turns } = options
  const scan = body.length > scannedBytes ? await scanBody(body, decidingMembers, turns) : undefined
  if (scan && isTooLarge(scan, limits)) {
    const received = receiveWhole(scan, isEncoded)
    return { received: received.whole?.hasOnePrompt(api) ? { scan, ...received } : received, isHeavy: false }
  }
  const isHeavy = body.length > lightBytes || (scan !== undefined && scan.containers > lightContainers)
  if (isHeavy) await turns.take()
  const received = readReceived(api, body, isEncoded, hygiene)
  const isKnown = scan && received.prompt?.set?.prompts.length === 1
  const bounded = withinTexts(received, limits)
  return { received: isKnown ? { scan, ...bounded } : bounded, isHeavy }
}

function withinTexts(received: Received, limits: WorkLimits): Received {
  const { prompt } = received
  if (!prompt?.set) return received
  const { set, explicit } = prompt
  const texts = Math.max(countMessages(set), set.texts.length, explicit?.blocks?.length ?? 0)
  if (texts <= limits.texts) return received
  if (explicit) throw explicitTooLarge()
  return { ...received, skipped: tooLarge, prompt: { ...prompt, set: undefined } }
}

/** Whether reading a body takes longer than other requests can wait. */
export function isTooLarge(scan: BodyScan, limits: WorkLimits): boolean {
  const parts = Object.keys(most) as (keyof typeof most)[]
  return scan.bytes.length > limits.bytes || parts.some((part) => scan[part] > most[part])
}

/**
 * Receives a body that is too large to parse. Throws `invalid_body` if its brackets do not match, and `body_too_large`
 * if it has a `reprise` field, which an engine does not understand.
 */
function receiveWhole(scan: BodyScan, isEncoded: boolean): Received {
  if (!beginsObject(scan.bytes)) return { ...unread, skipped: isEncoded ? 'encoded_body' : tooLarge }
  // UTF-16 and UTF-32 have a zero among the first four bytes
  if (scan.bytes.subarray(0, 4).includes(0)) throw notUtf8()
  if (scan.membersStart === undefined || !scan.isWhole) {
    throw new ProxyError('invalid_body', 'The request body is not valid JSON: its quotes and brackets do not pair up.')
  }
  const whole = new WholeBody(scan)
  if (whole.has('reprise')) {
    // a field that would be refused in a small body is refused here for the same reason
    readExplicitContext(whole.members.reprise)
    throw explicitTooLarge()
  }
  return { ...unread, whole, skipped: whole.holdsTokenIds ? 'token_ids' : tooLarge }
}

/** Returns the error for a request whose `reprise` field cannot be applied. */
function explicitTooLarge(): ProxyError {
  return new ProxyError(
    'body_too_large',
    "A request with a 'reprise' field of this size is not rewritten: send fewer messages and blocks.",
  )
}
