import { Dealer } from 'zeromq'

/** One batch as it came off the wire. */
export interface SequencedPayload {
  readonly sequence: number
  readonly payload: Uint8Array
}

const sequenceBytes = 8
const endOfReplay = 0xffffffffffffffffn

/**
 * Asks a publisher for all batches it still has from a sequence on, and hands them over one by one. True when it said
 * that these are all; false when it fell silent for `timeoutMilliseconds`, or the signal ended it.
 */
export async function askReplay(
  url: string,
  from: number,
  onBatch: (batch: SequencedPayload) => void,
  options: { readonly timeoutMilliseconds: number; readonly signal: AbortSignal },
): Promise<boolean> {
  // a socket for each: an answer that comes too late must not be taken for one to the next question
  const dealer = new Dealer({
    linger: 0,
    receiveTimeout: options.timeoutMilliseconds,
    sendTimeout: 0,
    receiveHighWaterMark: 0,
  })
  const close = (): void => dealer.close()
  options.signal.addEventListener('abort', close, { once: true })
  try {
    dealer.connect(url)
    await dealer.send([Buffer.alloc(0), writeSequence(from)])
    for (;;) {
      const batch = readReply(await dealer.receive())
      if (batch === 'end') return true
      if (batch) onBatch(batch)
    }
  } catch (error) {
    if (isSilence(error)) return false
    throw error
  } finally {
    options.signal.removeEventListener('abort', close)
    if (!dealer.closed) dealer.close()
  }
}

/** The sequence of a frame; undefined when it is none. */
export function readSequence(frame: Uint8Array | undefined): bigint | undefined {
  if (frame?.length !== sequenceBytes) return undefined
  return Buffer.from(frame.buffer, frame.byteOffset, sequenceBytes).readBigUInt64BE(0)
}

/** A reply is `["", topic, sequence, payload]`; vLLM before 0.25 sends no topic. */
function readReply(frames: readonly Uint8Array[]): SequencedPayload | 'end' | undefined {
  const sequence = readSequence(frames.at(-2))
  if (sequence === endOfReplay) return 'end'
  if (sequence === undefined || sequence > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return { sequence: Number(sequence), payload: frames.at(-1)! }
}

function writeSequence(sequence: number): Buffer {
  const bytes = Buffer.alloc(sequenceBytes)
  bytes.writeBigUInt64BE(BigInt(sequence))
  return bytes
}

/** No message in time (EAGAIN), or the socket was closed under it. */
function isSilence(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'EAGAIN' || code === 'ENOTSOCK' || code === 'EBADF' || code === 'ETERM'
}
