import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { countMessages } from '../../prompt/body/prompt.ts'
import type { PromptBody } from '../../prompt/body/prompt-body.ts'
import type { HygieneSettings } from '../../prompt/hygiene/apply-hygiene.ts'
import { type BodyScan, scanBody } from '../bounds/scan-body.ts'
import { decidingMembers } from '../bounds/whole-body.ts'
import { lightBytes, lightContainers, lightMarks, tooLarge, type WorkLimits } from '../bounds/work-limits.ts'
import { type Received, readReceived } from './read-received.ts'
import { explicitTooLarge, isTooLarge, receiveWhole } from './receive-whole.ts'

/** Parsing a smaller body is faster than scanning it. */
const scannedBytes = 16 * 1024

interface ReadingOptions {
  readonly isEncoded: boolean
  readonly hygiene: HygieneSettings | undefined
  readonly limits: WorkLimits
  /** Waits until other requests have been served. */
  readonly turn: () => Promise<void>
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
  const { isEncoded, hygiene, limits, turn } = options
  const scan = body.length > scannedBytes ? await scanBody(body, decidingMembers, turn) : undefined
  if (scan && isTooLarge(body.length, scan, limits)) {
    const received = receiveWhole(body, scan, isEncoded)
    const isKnown = received.whole?.hasOnePrompt(api)
    return { received: isKnown ? knownBy(scan, body, received) : received, isHeavy: false }
  }
  const isHeavy = body.length > lightBytes || (scan !== undefined && isCrowded(scan))
  if (isHeavy) await turn()
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
