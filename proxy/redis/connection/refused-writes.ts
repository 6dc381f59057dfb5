import type { Log } from '../../common/log.ts'
import type { RedisReply } from './redis-command.ts'
import { isRefusal, isToBeRepeated } from './redis-errors.ts'

export interface RefusedWritesOptions {
  readonly log: Log
  /** milliseconds, monotonic */
  readonly now: () => number
  /** counts a batch with refused writes that will be retried */
  readonly onRefused?: () => void
}

/** Refused writes are retried sooner than this, so after this long without a refusal Redis accepts writes again. */
const quietMilliseconds = 3_000

/** Logs once when a reachable Redis starts rejecting writes, and once when it accepts them again. */
export class RefusedWrites {
  readonly #options: RefusedWritesOptions
  /** undefined: nothing is refused */
  #refusedAt: number | undefined

  constructor(options: RefusedWritesOptions) {
    this.#options = options
  }

  /** Checks the replies to a batch of writes. */
  heard(replies: readonly RedisReply[]): void {
    const errors = replies.flatMap((reply) => ('error' in reply && isRefusal(reply.error) ? [reply.error] : []))
    if (errors.length === 0) return
    this.#begin(errors[0]!)
    // writes that are not retried are counted by their writer
    if (errors.some(isToBeRepeated)) this.#options.onRefused?.()
  }

  /** Checks the replies to the regular probe, which writes the marks. */
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
