import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { ProxyError } from '../../common/errors.ts'
import { readExplicitContext } from '../../prompt/body/explicit-context.ts'
import { countMessages } from '../../prompt/body/prompt.ts'
import type { PromptBody } from '../../prompt/body/prompt-body.ts'
import type { HygieneSettings } from '../../prompt/hygiene/apply-hygiene.ts'
import type { HeavyTurns } from '../bounds/event-loop.ts'
import { type BodyScan, scanBody } from '../bounds/scan-body.ts'
import { decidingMembers, WholeBody } from '../bounds/whole-body.ts'
import {
  lightBytes,
  lightContainers,
  lightMarks,
  mostCommas,
  mostContainers,
  mostDepth,
  mostMarks,
  mostStrings,
  tooLarge,
  type WorkLimits,
} from '../bounds/work-limits.ts'
import { beginsObject, type Received, readReceived } from './read-received.ts'

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
  if (scan && isTooLarge(body.length, scan, limits)) {
    const received = receiveWhole(body, scan, isEncoded)
    const isKnown = received.whole?.hasOnePrompt(api)
    return { received: isKnown ? knownBy(scan, body, received) : received, isHeavy: false }
  }
  const isHeavy = body.length > lightBytes || (scan !== undefined && isCrowded(scan))
  if (isHeavy) await turns.take()
  const received = readReceived(api, body, isEncoded, hygiene)
  const isKnown = scan && received.prompt?.set?.prompts.length === 1
  const bounded = withinTexts(received, limits)
  return { received: isKnown ? knownBy(scan, body, bounded) : bounded, isHeavy }
}

/** Whether it holds many elements that take long, regardless of its size. */
function isCrowded({ containers, marks }: BodyScan): boolean {
  return containers > lightContainers || marks > lightMarks
}

function knownBy({ digest }: BodyScan, { length }: Buffer, received: Received): Received {
  return { bytes: { digest, length }, ...received }
}

function countTexts(prompt: PromptBody | undefined): number {
  if (!prompt?.set) return 0
  return Math.max(countMessages(prompt.set), prompt.set.texts.length, prompt.explicit?.blocks?.length ?? 0)
}

function withinTexts(received: Received, limits: WorkLimits): Received {
  const { prompt } = received
  if (!prompt || countTexts(prompt) <= limits.texts) return received
  if (prompt.explicit) throw explicitTooLarge()
  return { ...received, skipped: tooLarge, prompt: { ...prompt, set: undefined } }
}

/** Whether reading a body takes longer than other requests can wait. */
export function isTooLarge(bytes: number, scan: BodyScan, limits: WorkLimits): boolean {
  const { containers, strings, commas, depth, marks } = scan
  return (
    bytes > limits.bytes ||
    containers > mostContainers ||
    strings > mostStrings ||
    commas > mostCommas ||
    depth > mostDepth ||
    marks > mostMarks
  )
}

/**
 * Receives a body that is too large to parse. Throws `invalid_body` if its brackets do not match, and `body_too_large`
 * if it has a `reprise` field, which an engine does not understand.
 */
function receiveWhole(body: Buffer, scan: BodyScan, isEncoded: boolean): Received {
  const unread = { prompt: undefined, tidied: [], fault: undefined }
  if (!beginsObject(body)) return { ...unread, skipped: isEncoded ? 'encoded_body' : tooLarge }
  // UTF-16 and UTF-32 have a zero among the first four bytes
  if (body.subarray(0, 4).includes(0))
    throw new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
  if (scan.membersStart === undefined || !scan.isWhole) {
    throw new ProxyError('invalid_body', 'The request body is not valid JSON: its quotes and brackets do not pair up.')
  }
  const whole = new WholeBody(body, scan)
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
