import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Turn } from '../demo/workload.ts'
import { waitFor } from '../redis-server.ts'
import type { Answer, Ask } from './ask.ts'

/** One request, as it went. */
export interface Sent {
  readonly requestId: string
  readonly turn: Turn
  /** its place in the order of sending */
  readonly at: number
  /** those that were under way when it was sent */
  readonly beside: readonly string[]
  /** undefined: it failed */
  readonly answer: Answer | undefined
  readonly failure: string | undefined
}

/** So many requests are under way at a time. */
export const lanes = 4
/**
 * Nobody sends sooner behind another. SGLang 0.5.23 reads chats in a pool of threads: which of two that come at once it
 * takes first is chance, and with it which of the two finds what the other computes.
 */
const apartMilliseconds = 50

/** Requests on their way to one proxy, four at a time, until there are no more turns or it is ended. */
export class Traffic {
  readonly #ask: Ask
  readonly #turns: Iterator<Turn>
  readonly #sent: Sent[] = []
  readonly #underWay = new Set<string>()
  readonly #onAnswered: (answered: number) => void
  readonly #done: Promise<void>
  #count = 0
  /** when the next may be sent */
  #nextAt = 0
  #isEnded = false
  #isHeld = false

  constructor(ask: Ask, turns: Iterable<Turn>, onAnswered: (answered: number) => void = () => {}) {
    this.#ask = ask
    this.#turns = turns[Symbol.iterator]()
    this.#onAnswered = onAnswered
    this.#done = Promise.all(Array.from({ length: lanes }, () => this.#drive())).then(() => undefined)
  }

  /** Those that are over, in the order of sending. */
  get sent(): Sent[] {
    return this.#sent.toSorted((a, b) => a.at - b.at)
  }

  /** How many were sent so far. */
  get count(): number {
    return this.#count
  }

  /** The ids of those that are under way. */
  get underWay(): ReadonlySet<string> {
    return new Set(this.#underWay)
  }

  /** Sends nothing more until `resume`; what is under way goes on. */
  hold(): void {
    this.#isHeld = true
  }

  resume(): void {
    this.#isHeld = false
  }

  /** Waits until so many are over that were sent from now on. */
  async more(count: number): Promise<Sent[]> {
    const from = this.#count
    const since = (): Sent[] => this.sent.filter(({ at }) => at >= from)
    await waitFor(() => since().length >= count, 600_000)
    return since()
  }

  /** Sends nothing more, and waits for what is under way. */
  async end(): Promise<void> {
    this.#isEnded = true
    await this.#done
  }

  /** Waits until all turns were sent and answered. */
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
