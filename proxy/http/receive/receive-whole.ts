import { ProxyError } from '../../common/errors.ts'
import { readExplicitContext } from '../../prompt/body/explicit-context.ts'
import type { BodyScan } from '../bounds/scan-body.ts'
import { WholeBody } from '../bounds/whole-body.ts'
import {
  mostCommas,
  mostContainers,
  mostDepth,
  mostMarks,
  mostStrings,
  tooLarge,
  type WorkLimits,
} from '../bounds/work-limits.ts'
import { beginsObject, isWide } from './begins-object.ts'
import type { Received } from './read-received.ts'

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
export function receiveWhole(body: Buffer, scan: BodyScan, isEncoded: boolean): Received {
  const unread = { prompt: undefined, tidied: [], fault: undefined }
  if (!beginsObject(body)) return { ...unread, skipped: isEncoded ? 'encoded_body' : tooLarge }
  if (isWide(body)) throw new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
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
export function explicitTooLarge(): ProxyError {
  return new ProxyError(
    'body_too_large',
    "A request with a 'reprise' field of this size is not rewritten: send fewer messages and blocks.",
  )
}
