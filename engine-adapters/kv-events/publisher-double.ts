import { setTimeout as pause } from 'node:timers/promises'
import { Publisher, Router } from 'zeromq'

const end = Buffer.alloc(8, 0xff)

/**
 * Publishes as vLLM's and SGLang's own publishers do, over real sockets: topic, sequence, payload; past batches by a
 * ROUTER. What it publishes is given to it. It can lose batches on their way, and be restarted.
 */
export class EventPublisherDouble {
  readonly #topic: Buffer
  #publisher: Publisher
  #router: Router
  #kept: (Buffer | undefined)[] = []
  #answering: Promise<void> = Promise.resolve()
  eventsUrl = ''
  replayUrl = ''
  /** replays that were asked for: from which sequence on */
  readonly asked: number[] = []
  /** whether replays are answered at all */
  isAnswering = true
  /** of a longer replay only the first so many batches come, and no end: they did not fit into a queue */
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
      // it was stopped in the middle of an answer
      if (!router.closed) throw error
    })
    return this
  }

  /** The next batch; `isLost`: it can be had by a replay only. */
  async publish(payload: Uint8Array, { isLost = false }: { isLost?: boolean } = {}): Promise<void> {
    const sequence = this.#kept.push(Buffer.from(payload)) - 1
    if (!isLost) await this.#publisher.send([this.#topic, write(sequence), Buffer.from(payload)])
  }

  /** Forgets the first so many batches. */
  forget(count: number): void {
    for (let i = 0; i < count; i++) this.#kept[i] = undefined
  }

  /** Another life at the same place: sequences begin anew. */
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

/** A socket that was closed gives its place back a moment later. */
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
