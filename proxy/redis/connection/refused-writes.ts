import type { Log } from '../../log.ts'
import type { RedisReply } from './redis-command.ts'
import { isRefusal, isToBeRepeated } from './redis-errors.ts'

export interface RefusedWritesOptions {
  readonly log: Log
  /** milliseconds, monotonic */
  readonly now: () => number
  /** counts a batch of writes of which something was refused that is tried again */
  readonly onRefused?: () => void
}

/** What is refused is tried again sooner: after so much quiet it is refused no longer. */
const quietMilliseconds = 3_000

/** Tells, once each, that a Redis that answers refuses what is written to it, and that it does so no longer. */
export class RefusedWrites {
  readonly #options: RefusedWritesOptions
  /** undefined: nothing is refused */
  #refusedAt: number | undefined

  constructor(options: RefusedWritesOptions) {
    this.#options = options
  }

  /** What Redis said to a batch. */
  heard(replies: readonly RedisReply[]): void {
    const errors = replies.flatMap((reply) => ('error' in reply && isRefusal(reply.error) ? [reply.error] : []))
    if (errors.length === 0) return
    this.#begin(errors[0]!)
    // what is not tried again is counted by who wrote it
    if (errors.some(isToBeRepeated)) this.#options.onRefused?.()
  }

  /** What Redis, which answers, said to what is written all the time. */
  probed(replies: readonly RedisReply[]): void {
    const refusal = replies.find((reply) => 'error' in reply && isRefusal(reply.error))
    if (refusal && 'error' in refusal) this.#begin(refusal.error)
    const { now, log } = this.#options
    if (this.#refusedAt === undefined || now() - this.#refusedAt < quietMilliseconds) return
    this.#refusedAt = undefined
    log.info('Redis takes what is written again')
  }

  #begin({ message }: Error): void {
    if (this.#refusedAt === undefined) {
      this.#options.log.warn({ fault: message }, 'Redis refuses what is written to it: going on from memory')
    }
    this.#refusedAt = this.#options.now()
  }
}
