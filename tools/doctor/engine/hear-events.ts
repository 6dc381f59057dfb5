import { setTimeout as pause } from 'node:timers/promises'
import { EventSubscriber } from '#engine-adapters/kv-events/event-subscriber.ts'
import { askReplay } from '#engine-adapters/kv-events/replay-client.ts'
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
  readonly fault: Fault
}

/** Why the last message could not be read. */
type Fault = string | undefined

/** If there is a publisher, its handshake takes no longer than this. */
const connectMilliseconds = 2_000
/** An engine publishes after its answer. */
const settleMilliseconds = 3_000
const pollMilliseconds = 20

/** Listens to an engine's cache events while it computes. Returns what `compute` does, and what was heard meanwhile. */
export async function hearEvents<Result>(
  eventsUrl: string,
  compute: () => Promise<Result>,
  signal: AbortSignal,
): Promise<[Result, HeardEvents]> {
  const heard = { isConnected: false, batches: 0, blocks: 0, isByContent: false, unknown: 0, fault: undefined as Fault }
  const cache = new ReportedCache(() => {})
  const subscriber = new EventSubscriber({
    eventsUrl,
    onConnected: () => {
      heard.isConnected = true
    },
    onBatch: ({ events, unknown }) => {
      for (const event of events) {
        cache.apply(event)
        if (event.type === 'stored') heard.blocks += event.hashes.length
      }
      heard.batches += 1
      heard.isByContent = cache.trustsContent
      heard.unknown += unknown
    },
    onLost: () => {},
    onFault: (error) => {
      heard.fault = (error as Error).message
    },
  })
  const wait = async (holds: () => boolean, milliseconds: number): Promise<void> => {
    const end = performance.now() + milliseconds
    while (!holds() && performance.now() < end) await pause(pollMilliseconds, undefined, { signal })
  }
  try {
    // what is published before the handshake is not received
    await wait(() => heard.isConnected, connectMilliseconds)
    const result = await compute()
    await wait(() => !heard.isConnected || heard.blocks > 0 || heard.fault !== undefined, settleMilliseconds)
    return [result, heard]
  } finally {
    await subscriber.close()
  }
}

/** Whether an engine answers a replay request at this address. */
export async function answersReplays(replayUrl: string, signal: AbortSignal): Promise<boolean> {
  // whatever else is there, it is not an engine's replay socket
  return askReplay(replayUrl, 0, () => {}, { timeoutMilliseconds: connectMilliseconds, signal }).catch(() => false)
}
