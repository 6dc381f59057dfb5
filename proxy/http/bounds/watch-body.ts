import type { IncomingMessage, ServerResponse } from 'node:http'
import { ProxyError } from '../../common/errors.ts'

/** At least this much of a body must arrive in the time that is configured, unless less of it is left. */
const leastBytes = 16 * 1024
/** How often the body is checked in that time. */
const looks = 30

/**
 * Watches a request's body as it arrives, until its answer begins. Calls `onStall` with the error to answer if too
 * little of it came within `milliseconds`; 0: never. Time in which it is not read, because an engine does not take
 * more, does not count. Returns how to stop.
 */
export function watchBody(
  { incoming, outgoing }: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  milliseconds: number,
  onStall: (error: ProxyError) => void,
): () => void {
  const { headers, socket } = incoming
  const hasBody = (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined
  if (milliseconds === 0 || !hasBody) return () => {}
  let looked = 0
  let bytes = socket.bytesRead
  const look = (): void => {
    if (incoming.complete || incoming.destroyed || outgoing.headersSent) {
      clearInterval(timer)
      return
    }
    if (incoming.readableFlowing) looked += 1
    if (looked < looks) return
    if (socket.bytesRead - bytes < leastBytes) {
      clearInterval(timer)
      onStall(tooSlow(milliseconds))
    }
    looked = 0
    bytes = socket.bytesRead
  }
  const timer = setInterval(look, milliseconds / looks).unref()
  return () => clearInterval(timer)
}

function tooSlow(milliseconds: number): ProxyError {
  const message = `Less than ${leastBytes} bytes of the request body arrived in ${milliseconds / 1000} s, which is too slow here: send it again.`
  return new ProxyError('body_too_slow', message, { headers: { connection: 'close' } })
}
