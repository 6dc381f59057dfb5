import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { ReusingPrefixCache } from './cache/prefix-cache.ts'
import type { CachedRequest, CacheReport } from './cache/request-ledger.ts'

interface CallbackSenderOptions {
  /** `http://HOST:PORT/v1/replicas/NAME` */
  url: string
  token: string | undefined
  /** The state after everything reported so far. */
  snapshot: () => CachedRequest[]
  reuse?: ReusingPrefixCache['offer'] | undefined
  /** Milliseconds of silence after which an empty batch is posted. */
  heartbeat?: number
  /** Called once when posts begin to fail, and once when they succeed again. */
  warn: (message: string) => void
}

const longestQueue = 20_000
const longestBatch = 1000
const firstPause = 100
const longestPause = 5000
const answerTimeout = 5000
const flushTimeout = 1000
/** Receivers treat more than three seconds of silence as a fault. */
const heartbeat = 2000

/**
 * Posts the cache's reports, in order and one post at a time, with the eviction callback protocol. Never makes the
 * engine wait: if the receiver is down, refuses or falls behind, a snapshot replaces the queued reports.
 */
export class CallbackSender {
  readonly #options: CallbackSenderOptions
  readonly #generation = randomUUID()
  readonly #agent = new Agent({ connections: 1, headersTimeout: answerTimeout, bodyTimeout: answerTimeout })
  readonly #closing = new AbortController()
  readonly #cutOff = new AbortController()
  readonly #done: Promise<void>
  #queue: CacheReport[] = []
  #sequence = 0
  #needsSnapshot = true
  #failing = false
  /** emits `report` */
  readonly #news = new EventEmitter()

  constructor(options: CallbackSenderOptions) {
    this.#options = options
    this.#done = this.#run()
  }

  report(reports: CacheReport[]): void {
    this.#queue = this.#queue.concat(reports)
    if (this.#queue.length > longestQueue) {
      this.#queue = []
      this.#needsSnapshot = true
    }
    this.#news.emit('report')
  }

  /** Posts what is queued, for at most one second, and stops. */
  async close(): Promise<void> {
    this.#closing.abort()
    const cut = setTimeout(() => this.#cutOff.abort(), flushTimeout)
    await this.#done
    clearTimeout(cut)
    await this.#agent.destroy()
  }

  async #run(): Promise<void> {
    let pause = firstPause
    while (await this.#somethingToSend()) {
      const events = !this.#needsSnapshot
      const status = events ? await this.#postEvents() : await this.#postSnapshot()
      this.#noteOutcome(status)
      if (status === 200) {
        pause = firstPause
        continue
      }
      this.#needsSnapshot = true
      if (events && status === 409) continue
      if (this.#closing.signal.aborted) return
      await delay(pause, undefined, { signal: this.#closing.signal }).catch(() => {})
      pause = Math.min(pause * 2, longestPause)
    }
  }

  /** Waits for something to send; after some silence that is an empty batch, which says that nothing was lost. */
  async #somethingToSend(): Promise<boolean> {
    if (!this.#needsSnapshot && this.#queue.length === 0) {
      const silence = AbortSignal.timeout(this.#options.heartbeat ?? heartbeat)
      const signal = AbortSignal.any([silence, this.#closing.signal])
      await once(this.#news, 'report', { signal }).catch(() => {})
      if (this.#closing.signal.aborted && this.#queue.length === 0) return false
    }
    // reports made later in this turn of the event loop go into the same post
    await setImmediate()
    return true
  }

  #postSnapshot(): Promise<number> {
    this.#needsSnapshot = false
    this.#queue = []
    const { snapshot, reuse } = this.#options
    const [generation, sequence] = [this.#generation, this.#sequence]
    return this.#post('snapshot', { generation, sequence, requests: snapshot(), ...(reuse ? { reuse } : {}) })
  }

  #postEvents(): Promise<number> {
    const events = this.#queue.splice(0, longestBatch)
    this.#sequence += 1
    return this.#post('events', { generation: this.#generation, sequence: this.#sequence, events })
  }

  /** The answer's status; 0 without an answer. */
  async #post(path: string, body: unknown): Promise<number> {
    const { url, token } = this.#options
    try {
      const response = await request(`${url}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
        body: JSON.stringify(body),
        dispatcher: this.#agent,
        signal: this.#cutOff.signal,
      })
      await response.body.dump()
      return response.statusCode
    } catch {
      return 0
    }
  }

  #noteOutcome(status: number): void {
    const failed = status !== 200 && status !== 409
    if (failed === this.#failing) return
    this.#failing = failed
    const answer = status === 0 ? 'there is no answer' : `the answer is ${status}`
    this.#options.warn(failed ? `cannot report to ${this.#options.url}: ${answer}; retrying` : 'reporting again')
  }
}
