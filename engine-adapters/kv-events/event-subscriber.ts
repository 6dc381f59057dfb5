import { Dealer, Subscriber } from 'zeromq'
import { decodeBatch, KvEventError } from './decode-batch.ts'
import { EventOrder, type OrderListener } from './event-order.ts'
import type { KvEventBatch } from './kv-event.ts'

/** Where an engine publishes, and who listens. */
export interface SubscriberOptions extends Omit<OrderListener, 'askReplay'> {
  readonly eventsUrl: string
  /** without it, gaps cannot be filled */
  readonly replayUrl?: string | undefined
  /** Something answers at the address. */
  onConnected?(): void
  /** A message could not be read or processed. */
  onFault(error: unknown): void
  /** silence after which we ask whether something was missed or the engine was restarted */
  readonly checkMilliseconds?: number
  readonly replayTimeoutMilliseconds?: number
}

const defaultCheckMilliseconds = 1_500
const longestPatience = 32
const defaultReplayTimeoutMilliseconds = 1_000

/** Receives the cache events of one engine over ZeroMQ, complete and in order as far as possible. */
export class EventSubscriber {
  readonly #options: SubscriberOptions
  /** what has been heard so far */
  readonly order: EventOrder
  readonly #socket: Subscriber
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #reading: Promise<void>
  #heardSinceCheck = false
  /** timer checks to wait, during traffic, before asking again for missed batches */
  #patience = 1
  #waited = 0

  constructor(options: SubscriberOptions) {
    this.#options = options
    const { replayUrl } = options
    this.order = new EventOrder(
      {
        onBatch: (batch) => this.#tell(() => options.onBatch(batch)),
        onLost: (reason) => this.#tell(() => options.onLost(reason)),
        askReplay: (from) => void this.#replay(replayUrl!, from),
      },
      replayUrl !== undefined,
    )
    this.#socket = new Subscriber({ receiveHighWaterMark: 0, linger: 0, reconnectMaxInterval: 1_000 })
    this.#socket.events.on('disconnect', () => this.order.disconnected())
    this.#socket.events.on('connect', () => this.order.check())
    this.#socket.events.on('handshake', () => options.onConnected?.())
    this.#socket.connect(options.eventsUrl)
    // any topic: a publisher has only one
    this.#socket.subscribe()
    this.#reading = this.#read().catch((error: unknown) => this.#options.onFault(error))
    this.order.check()
    this.#timer = setInterval(() => this.#checkSilence(), options.checkMilliseconds ?? defaultCheckMilliseconds)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    this.#socket.close()
    await this.#reading
  }

  async #read(): Promise<void> {
    for await (const frames of this.#socket) {
      const message = readMessage(frames)
      if (!message || message === 'end') {
        this.#options.onFault(
          new KvEventError('A message has no sequence number, or a larger one than any engine reaches.'),
        )
        continue
      }
      this.#heardSinceCheck = true
      this.#deliver(message, (at, batch) => this.order.published(at, batch))
    }
  }

  async #replay(url: string, from: number): Promise<void> {
    const timeoutMilliseconds = this.#options.replayTimeoutMilliseconds ?? defaultReplayTimeoutMilliseconds
    const { signal } = this.#closing
    const onBatch = (message: SequencedPayload): void =>
      this.#deliver(message, (sequence, batch) => this.order.replayed(sequence, batch))
    const isWhole = await askReplay(url, from, onBatch, { timeoutMilliseconds, signal }).catch((error: unknown) => {
      this.#options.onFault(error)
      return false
    })
    if (signal.aborted) return
    if (isWhole) this.order.replayEnded()
    else this.order.replayFailed()
  }

  /** Skips a batch that cannot be read; the next batch will show a gap. */
  #deliver({ sequence, payload }: SequencedPayload, take: (sequence: number, batch: KvEventBatch) => void): void {
    let batch: KvEventBatch
    try {
      batch = decodeBatch(payload)
    } catch (error) {
      this.#options.onFault(error)
      return
    }
    take(sequence, batch)
  }

  /** Calls the listener; its errors must not end the subscription. */
  #tell(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  /**
   * Asks for what may be missing in silence, and for what the engine did not replay before. Waiting for an engine that
   * does not answer delays what it publishes meanwhile, so we ask less and less often.
   */
  #checkSilence(): void {
    let isTime = !this.#heardSinceCheck
    if (!this.order.isPastAskable) this.#patience = 1
    else if (++this.#waited >= this.#patience) {
      isTime = true
      this.#waited = 0
      this.#patience = Math.min(2 * this.#patience, longestPatience)
    }
    if (isTime) this.order.check()
    this.#heardSinceCheck = false
  }
}

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
    const asked = Buffer.alloc(sequenceBytes)
    asked.writeBigUInt64BE(BigInt(from))
    await dealer.send([Buffer.alloc(0), asked])
    for (;;) {
      const batch = readMessage(await dealer.receive())
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

/**
 * Reads a message, whose last frames are the sequence and the payload: vLLM before 0.25 replays without a topic. `end`: of a
 * replay. Undefined if it is none, or its sequence is a number that no engine reaches.
 */
function readMessage(frames: readonly Uint8Array[]): SequencedPayload | 'end' | undefined {
  const [frame, payload] = frames.slice(-2)
  if (!payload || frame?.length !== sequenceBytes) return undefined
  const sequence = Buffer.from(frame.buffer, frame.byteOffset, sequenceBytes).readBigUInt64BE()
  if (sequence === endOfReplay) return 'end'
  return sequence > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : { sequence: Number(sequence), payload }
}

/** Whether no message came in time (EAGAIN), or the socket was closed meanwhile. */
function isSilence(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'EAGAIN' || code === 'ENOTSOCK' || code === 'EBADF' || code === 'ETERM'
}
