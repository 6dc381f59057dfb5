import { setTimeout as pause } from 'node:timers/promises'
import { Subscriber } from 'zeromq'
import { decodeBatch } from '#engine-adapters/kv-events/decode-batch.ts'
import { askReplay, readSequence } from '#engine-adapters/kv-events/replay-client.ts'
import { ReportedCache } from '#engine-adapters/kv-events/reported-cache.ts'

/** The cache events received from an engine while it computed prompts. */
export interface HeardEvents {
  /** whether a publisher answered at the address */
  readonly isConnected: boolean
  readonly batches: number
  /** blocks that were reported as stored */
  readonly blocks: number
  /** whether blocks are named by content, because their hashes cannot be computed here */
  readonly isByContent: boolean
  /** events of kinds that are not known */
  readonly unknown: number
  /** why the last message could not be read */
  readonly fault: string | undefined
}

/** If there is a publisher, its handshake takes no longer than this. */
const connectMilliseconds = 2_000
/** An engine publishes after its answer. */
const settleMilliseconds = 3_000
const pollMilliseconds = 20

/** Listens to an engine's cache events while it is checked. */
export class EventWatch {
  readonly #socket: Subscriber
  readonly #reading: Promise<void>
  readonly #cache = new ReportedCache(() => {})
  #heard: HeardEvents = { isConnected: false, batches: 0, blocks: 0, isByContent: false, unknown: 0, fault: undefined }

  constructor(eventsUrl: string) {
    this.#socket = new Subscriber({ receiveHighWaterMark: 0, linger: 0 })
    this.#socket.events.on('handshake', () => {
      this.#heard = { ...this.#heard, isConnected: true }
    })
    this.#socket.connect(eventsUrl)
    this.#socket.subscribe()
    // closing the socket ends the reading
    this.#reading = this.#read().catch(() => {})
  }

  /** Waits for the publisher's handshake: what was published before it is not received. */
  async connect(signal: AbortSignal): Promise<void> {
    await this.#wait(({ isConnected }) => isConnected, connectMilliseconds, signal)
  }

  /** Returns what was received, once there are stored blocks or it is clear that none will come. */
  async settle(signal: AbortSignal): Promise<HeardEvents> {
    await this.#wait(
      ({ isConnected, blocks, fault }) => !isConnected || blocks > 0 || fault !== undefined,
      settleMilliseconds,
      signal,
    )
    return this.#heard
  }

  async close(): Promise<void> {
    this.#socket.close()
    await this.#reading
  }

  async #wait(holds: (heard: HeardEvents) => boolean, milliseconds: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + milliseconds
    while (!holds(this.#heard) && performance.now() < end) await pause(pollMilliseconds, undefined, { signal })
  }

  async #read(): Promise<void> {
    for await (const frames of this.#socket) this.#take(frames)
  }

  #take(frames: readonly Uint8Array[]): void {
    try {
      if (readSequence(frames.at(-2)) === undefined) throw new Error('it has no sequence number')
      const { events, unknown } = decodeBatch(frames.at(-1)!)
      const blocks = events.reduce((sum, event) => sum + (event.type === 'stored' ? event.hashes.length : 0), 0)
      for (const event of events) this.#cache.apply(event)
      this.#heard = {
        ...this.#heard,
        batches: this.#heard.batches + 1,
        blocks: this.#heard.blocks + blocks,
        isByContent: this.#cache.trustsContent,
        unknown: this.#heard.unknown + unknown,
      }
    } catch (error) {
      this.#heard = { ...this.#heard, fault: (error as Error).message }
    }
  }
}

/** Whether an engine answers a replay request at this address. */
export async function answersReplays(replayUrl: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await askReplay(replayUrl, 0, () => {}, { timeoutMilliseconds: connectMilliseconds, signal })
  } catch {
    // whatever is there, it is not an engine's replay socket
    return false
  }
}
