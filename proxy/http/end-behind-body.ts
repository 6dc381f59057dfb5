import type { IncomingMessage, ServerResponse } from 'node:http'
import { dropBody } from './read-body.ts'

/** How long a client may go on sending what nobody reads, once it has its answer. */
const longestMilliseconds = 10_000

/**
 * Answers a request whose body may still be on its way: the answer goes out at once, and ends when the body has. An end
 * that also ends the connection would otherwise reset it under a client that is sending, which would never see why.
 * A client that does not come to an end is not waited for; resolves when the answer is ended.
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
  // one that was on its way to an engine stands still
  incoming.unpipe()
  incoming.resume()
  await over
  clearTimeout(timer)
  outgoing.end()
}
