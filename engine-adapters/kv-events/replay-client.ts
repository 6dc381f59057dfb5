import { Dealer } from 'zeromq'

interface SequencedPayload {
  readonly sequence: number
  readonly payload: Uint8Array
}

const sequenceBytes = 8
const endOfReplay = 0xffffffffffffffffn

/**
 * Asks a publisher for all batches it still has from a sequence on, and passes them to `onBatch`. Returns true if the
 * publisher said that these are all; false if it was silent for `timeoutMilliseconds`, or the signal aborted.
 */
export async function askReplay(
  url: string,
  from: number,
  onBatch: (batch: SequencedPayload) => void,
  options: { readonly timeoutMilliseconds: number; readonly signal: AbortSignal },
): Promise<boolean> {
  // a new socket per request: a late answer must not be taken for the answer to the next request
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

/** Reads the sequence from a frame; undefined if the frame is none, or holds a number that no engine reaches. */
export function readSequence(frame: Uint8Array | undefined): number | undefined {
  const sequence = frame && readNumber(frame)
  return sequence === undefined || sequence > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(sequence)
}

function readNumber({ buffer, byteOffset, length }: Uint8Array): bigint | undefined {
  return length === sequenceBytes ? Buffer.from(buffer, byteOffset, length).readBigUInt64BE(0) : undefined
}

/** A reply is `["", topic, sequence, payload]`; vLLM before 0.25 sends no topic. */
function readReply(frames: readonly Uint8Array[]): SequencedPayload | 'end' | undefined {
  const [frame, payload] = frames.slice(-2)
  if (frame && readNumber(frame) === endOfReplay) return 'end'
  const sequence = readSequence(frame)
  return sequence === undefined || !payload ? undefined : { sequence, payload }
}

function writeSequence(sequence: number): Buffer {
  const bytes = Buffer.alloc(sequenceBytes)
  bytes.writeBigUInt64BE(BigInt(sequence))
  return bytes
}

/** Whether no message came in time (EAGAIN), or the socket was closed meanwhile. */
function isSilence(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'EAGAIN' || code === 'ENOTSOCK' || code === 'EBADF' || code === 'ETERM'
}
