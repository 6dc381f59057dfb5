import { setTimeout as pause } from 'node:timers/promises'
import { Publisher, Router } from 'zeromq'

const end = Buffer.alloc(8, 0xff)

/**
 * Publishes as vLLM's and SGLang's own publishers do, over real sockets: topic, sequence, payload; past batches by a
 * ROUTER. The caller provides the payloads. It can lose batches in transit, and can be restarted.
 */
export class EventPublisherDouble {
  readonly #topic: Buffer
  #publisher: Publisher
  #router: Router
  #kept: (Buffer | undefined)[] = []
  #answering: Promise<void> = Promise.resolve()
  eventsUrl = ''
  replayUrl = ''
  /** the requested replays: the first sequence of each */
  readonly asked: number[] = []
  /** whether replays are answered at all */
  isAnswering = true
  /** the most batches of a replay that are sent; if there are more, its end is lost too, as with a full queue */
  longestReplay: number = Number.POSITIVE_INFINITY

  constructor(topic = '') {
    this.#topic = Buffer.from(topic)
    this.#publisher = new Publisher({ linger: 0, sendHighWaterMark: 0 })
    this.#router = new Router({ linger: 0 })
  }

  async start(): Promise<this> {
    await bind(this.#publisher, this.eventsUrl || 'tcp://127.0.0.1:*')
    await bind(this.#router, this.replayUrl || 'tcp://127.0.0.1:*')
    this.eventsUrl ||= this.#publisher.lastEndpoint!
    this.replayUrl ||= this.#router.lastEndpoint!
    const router = this.#router
    this.#answering = this.#answer(router).catch((error: unknown) => {
      // the double was stopped in the middle of an answer
      if (!router.closed) throw error
    })
    return this
  }

  /** Publishes the next batch; `isLost`: only a replay delivers it. */
  async publish(payload: Uint8Array, { isLost = false }: { isLost?: boolean } = {}): Promise<void> {
    const sequence = this.#kept.push(Buffer.from(payload)) - 1
    if (!isLost) await this.#publisher.send([this.#topic, write(sequence), Buffer.from(payload)])
  }

  /** Forgets the first `count` batches. */
  forget(count: number): void {
    for (let i = 0; i < count; i++) this.#kept[i] = undefined
  }

  /** Restarts at the same addresses: sequences begin at 0 again. */
  async restart(): Promise<void> {
    await this.stop()
    this.#kept = []
    this.#publisher = new Publisher({ linger: 0, sendHighWaterMark: 0 })
    this.#router = new Router({ linger: 0 })
    await this.start()
  }

  async stop(): Promise<void> {
    this.#publisher.close()
    this.#router.close()
    await this.#answering
  }

  async #answer(router: Router): Promise<void> {
    for await (const [client, , from] of router) {
      const first = Number(from!.readBigUInt64BE(0))
      this.asked.push(first)
      if (!this.isAnswering) continue
      const empty = Buffer.alloc(0)
      let room = this.longestReplay
      for (const [sequence, payload] of this.#kept.entries()) {
        if (sequence < first || !payload || room === 0) continue
        room -= 1
        await router.send([client!, empty, this.#topic, write(sequence), payload])
      }
      if (room > 0) await router.send([client!, empty, empty, end, empty])
    }
  }
}

/** Binds a socket, with retries: a closed socket frees its address only a moment later. */
async function bind(socket: Publisher | Router, url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await socket.bind(url)
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EADDRINUSE' || tries === 200) throw error
      await pause(10)
    }
  }
}

function write(sequence: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(sequence))
  return bytes
}
