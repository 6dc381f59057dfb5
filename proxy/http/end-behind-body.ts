import type { IncomingMessage, ServerResponse } from 'node:http'
import { dropBody } from './read-body.ts'

/** How long a client may continue to send a discarded body once it has its answer. */
const longestMilliseconds = 10_000

/**
 * Answers a request whose body may still be arriving. The answer goes out at once and ends when the body has ended:
 * closing the connection earlier would reset it while the client is sending, and the client would never see the answer.
 * Waits for the body at most `milliseconds`. Resolves when the answer has ended.
 */
export async function endBehindBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer | undefined,
  milliseconds: number = longestMilliseconds,
): Promise<void> {
  if (incoming.complete) {
    outgoing.end(body)
    incoming.resume()
    return
  }
  if (body) outgoing.write(body)
  const timer = setTimeout(() => outgoing.end(), milliseconds)
  const over = dropBody(incoming)
  // a body that was being piped to an engine is paused
  incoming.unpipe()
  incoming.resume()
  await over
  clearTimeout(timer)
  outgoing.end()
}
