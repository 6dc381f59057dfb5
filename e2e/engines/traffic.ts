import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Turn } from '../demo/workload.ts'
import { waitFor } from '../redis-server.ts'
import type { Answer, Ask } from './ask.ts'

/** One request and its outcome. */
export interface Sent {
  readonly requestId: string
  readonly turn: Turn
  /** its place in the order of sending */
  readonly at: number
  /** ids of the requests in flight when it was sent */
  readonly beside: readonly string[]
  /** undefined if it failed */
  readonly answer: Answer | undefined
  readonly failure: string | undefined
}

/** Number of requests in flight at a time. */
export const lanes = 4
/**
 * Minimum time between two sends. SGLang 0.5.23 reads chats in a thread pool: if two arrive at once, chance decides
 * which it takes first, and so which of the two finds what the other computed.
 */
const apartMilliseconds = 50

/** Sends turns to one proxy, four at a time, until there are no more or `end` is called. */
export class Traffic {
  readonly #ask: Ask
  readonly #turns: Iterator<Turn>
  readonly #sent: Sent[] = []
  readonly #underWay = new Set<string>()
  readonly #onAnswered: (answered: number) => void
  readonly #done: Promise<void>
  #count = 0
  /** when the next request may be sent */
  #nextAt = 0
  #isEnded = false
  #isHeld = false

  constructor(ask: Ask, turns: Iterable<Turn>, onAnswered: (answered: number) => void = () => {}) {
    this.#ask = ask
    this.#turns = turns[Symbol.iterator]()
    this.#onAnswered = onAnswered
    this.#done = Promise.all(Array.from({ length: lanes }, () => this.#drive())).then(() => undefined)
  }

  /** The finished requests, in the order of sending. */
  get sent(): Sent[] {
    return this.#sent.toSorted((a, b) => a.at - b.at)
  }

  /** Number of requests sent so far. */
  get count(): number {
    return this.#count
  }

  /** The ids of the requests in flight. */
  get underWay(): ReadonlySet<string> {
    return new Set(this.#underWay)
  }

  /** Sends nothing more until `resume`; requests in flight continue. */
  hold(): void {
    this.#isHeld = true
  }

  resume(): void {
    this.#isHeld = false
  }

  /** Waits until `count` requests sent from now on have finished, and returns those that have. */
  async more(count: number): Promise<Sent[]> {
    const from = this.#count
    const since = (): Sent[] => this.sent.filter(({ at }) => at >= from)
    await waitFor(() => since().length >= count, 600_000)
    return since()
  }

  /** Sends nothing more and waits for the requests in flight. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#done
  }

  /** Waits until all turns have been sent and have finished. */
  async finished(): Promise<Sent[]> {
    await this.#done
    return this.sent
  }

  async #drive(): Promise<void> {
    while (!this.#isEnded) {
      await this.#untilItsTurn()
      if (this.#isHeld) await waitFor(() => !this.#isHeld || this.#isEnded, 600_000)
      if (this.#isEnded) return
      const { done, value: turn } = this.#turns.next() as IteratorResult<Turn, undefined>
      if (done) return
      await this.#send(turn)
      this.#onAnswered(this.#sent.length)
    }
  }

  async #untilItsTurn(): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, this.#nextAt)
    this.#nextAt = at + apartMilliseconds
    if (at > now) await pause(at - now)
  }

  async #send(turn: Turn): Promise<void> {
    const at = this.#count++
    const requestId = `r${at}-${randomUUID().slice(0, 8)}`
    const beside = [...this.#underWay]
    this.#underWay.add(requestId)
    let [answer, failure]: [Answer | undefined, string | undefined] = [undefined, undefined]
    try {
      answer = await this.#ask(turn, requestId)
    } catch (error) {
      failure = describe(error)
    }
    this.#underWay.delete(requestId)
    this.#sent.push({ requestId, turn, at, beside, answer, failure })
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' && 'code' in error ? String(error.code) : error.message
}
