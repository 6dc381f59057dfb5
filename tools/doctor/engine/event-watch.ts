import { setTimeout as pause } from 'node:timers/promises'
import { EventSubscriber } from '#engine-adapters/kv-events/event-subscriber.ts'
import type { KvEventBatch } from '#engine-adapters/kv-events/kv-event.ts'
import { askReplay } from '#engine-adapters/kv-events/replay-client.ts'
import { ReportedCache } from '#engine-adapters/kv-events/reported-cache.ts'

/** The cache events received from an engine while it computed prompts. */
export interface HeardEvents {
  /** whether a publisher answered at the address */
  isConnected: boolean
  batches: number
  /** blocks that were reported as stored */
  blocks: number
  /** whether blocks are named by content, because their hashes cannot be computed here */
  isByContent: boolean
  /** events of kinds that are not known */
  unknown: number
  /** why the last message could not be read */
  fault: string | undefined
}

/** If there is a publisher, its handshake takes no longer than this. */
const connectMilliseconds = 2_000
/** An engine publishes after its answer. */
const settleMilliseconds = 3_000
const pollMilliseconds = 20

/** Listens to an engine's cache events while it is checked. */
export class EventWatch {
  readonly #subscriber: EventSubscriber
  readonly #cache = new ReportedCache(() => {})
  readonly #heard: HeardEvents = {
    isConnected: false,
    batches: 0,
    blocks: 0,
    isByContent: false,
    unknown: 0,
    fault: undefined,
  }

  constructor(eventsUrl: string) {
    this.#subscriber = new EventSubscriber({
      eventsUrl,
      onConnected: () => {
        this.#heard.isConnected = true
      },
      onBatch: (batch) => this.#take(batch),
      onLost: () => {},
      onFault: (error) => {
        this.#heard.fault = (error as Error).message
      },
    })
  }

  /** Waits for the publisher's handshake: what was published before it is not received. */
  async connect(signal: AbortSignal): Promise<void> {
    await this.#wait(() => this.#heard.isConnected, connectMilliseconds, signal)
  }

  /** Returns what was received, once there are stored blocks or it is clear that none will come. */
  async settle(signal: AbortSignal): Promise<HeardEvents> {
    const heard = this.#heard
    const isSettled = (): boolean => !heard.isConnected || heard.blocks > 0 || heard.fault !== undefined
    await this.#wait(isSettled, settleMilliseconds, signal)
    return heard
  }

  close(): Promise<void> {
    return this.#subscriber.close()
  }

  async #wait(holds: () => boolean, milliseconds: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + milliseconds
    while (!holds() && performance.now() < end) await pause(pollMilliseconds, undefined, { signal })
  }

  #take({ events, unknown }: KvEventBatch): void {
    for (const event of events) {
      this.#cache.apply(event)
      if (event.type === 'stored') this.#heard.blocks += event.hashes.length
    }
    this.#heard.batches += 1
    this.#heard.isByContent = this.#cache.trustsContent
    this.#heard.unknown += unknown
  }
}

/** Whether an engine answers a replay request at this address. */
export async function answersReplays(replayUrl: string, signal: AbortSignal): Promise<boolean> {
  // whatever else is there, it is not an engine's replay socket
  return askReplay(replayUrl, 0, () => {}, { timeoutMilliseconds: connectMilliseconds, signal }).catch(() => false)
}
