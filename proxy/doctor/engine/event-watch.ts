import { setTimeout as pause } from 'node:timers/promises'
import { Subscriber } from 'zeromq'
import { chooseNaming } from '#engine-adapters/kv-events/choose-naming.ts'
import { ContentNaming } from '#engine-adapters/kv-events/content-naming.ts'
import { decodeBatch } from '#engine-adapters/kv-events/decode-batch.ts'
import { askReplay, readSequence } from '#engine-adapters/kv-events/replay-client.ts'

/** What was heard of an engine's cache events while it computed prompts. */
export interface HeardEvents {
  /** somebody publishes there */
  readonly isConnected: boolean
  readonly batches: number
  /** blocks that were said to be stored */
  readonly blocks: number
  /** the hashes of blocks cannot be computed here, so that these are named by content */
  readonly isByContent: boolean
  /** events of kinds that are not known */
  readonly unknown: number
  /** why the last message could not be read */
  readonly fault: string | undefined
}

/** The publisher's greeting takes no longer, where there is one. */
const connectMilliseconds = 2_000
/** An engine publishes behind the answer. */
const settleMilliseconds = 3_000
const pollMilliseconds = 20

/** Listens to an engine's cache events for as long as it is checked. */
export class EventWatch {
  readonly #socket: Subscriber
  readonly #reading: Promise<void>
  #heard: HeardEvents = { isConnected: false, batches: 0, blocks: 0, isByContent: false, unknown: 0, fault: undefined }

  constructor(eventsUrl: string) {
    this.#socket = new Subscriber({ receiveHighWaterMark: 0, linger: 0 })
    this.#socket.events.on('handshake', () => {
      this.#heard = { ...this.#heard, isConnected: true }
    })
    this.#socket.connect(eventsUrl)
    this.#socket.subscribe()
    // closing it ends the reading
    this.#reading = this.#read().catch(() => {})
  }

  /** Waits until the publisher has greeted: what was published before is not heard. */
  async connect(signal: AbortSignal): Promise<void> {
    await this.#wait(({ isConnected }) => isConnected, connectMilliseconds, signal)
  }

  /** What has been heard, once blocks were, or it is clear that none will be. */
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
      const first = events.find(
        (event) => event.type === 'stored' && event.parent === undefined && event.tokens.length > 0,
      )
      const { batches, isByContent } = this.#heard
      this.#heard = {
        ...this.#heard,
        batches: batches + 1,
        blocks: this.#heard.blocks + blocks,
        isByContent: first?.type === 'stored' ? chooseNaming(first) instanceof ContentNaming : isByContent,
        unknown: this.#heard.unknown + unknown,
      }
    } catch (error) {
      this.#heard = { ...this.#heard, fault: (error as Error).message }
    }
  }
}

/** Whether an engine answers there with what it has published before. */
export async function answersReplays(replayUrl: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await askReplay(replayUrl, 0, () => {}, { timeoutMilliseconds: connectMilliseconds, signal })
  } catch {
    // whatever is there, it is no engine's replay
    return false
  }
}
