import type { IncomingHttpHeaders } from 'node:http'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { Usage } from '#engine-adapters/read-usage.ts'

/** Follows a request to its engine and back. Its methods are called in this order, each once at most but `onChunk`. */
export interface TripFollower {
  /** The request goes to the engine. */
  sent?(request: EngineRequest): void
  /** The head of the answer has arrived. */
  onHead?(status: number, headers: IncomingHttpHeaders): void
  /** The next bytes of a successful answer's body. */
  onChunk?(chunk: Buffer): void
  /** The engine's token counts. */
  used?(usage: Usage): void
  /** The request is over; `wasRun`: the engine ran it, at least in part, and may hold what it computed. */
  ended?(wasRun: boolean): void
}

/**
 * One request on its way to an engine and back, and all that follows it. A fault in one of them neither harms the
 * request nor keeps the others from hearing of it, above all of its end.
 */
export class Trip {
  readonly #onFault: (error: unknown) => void
  readonly #followers: TripFollower[] = []
  /** whether the engine has begun to answer */
  hasHead = false
  /** whether it ran the request, at least in part */
  wasRun = false

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault
  }

  /** Adds a follower, if there is one. Those that are added last hear first of the end. */
  follow(follower: TripFollower | undefined): void {
    if (follower) this.#followers.push(follower)
  }

  /** Tells all of a step; of the end in the opposite order. */
  tell<Step extends keyof TripFollower>(step: Step, ...told: Parameters<Required<TripFollower>[Step]>): void {
    if (step === 'onHead') this.hasHead = true
    if (step === 'ended') this.#followers.reverse()
    for (const follower of this.#followers) {
      try {
        const hear = follower[step] as ((...told: unknown[]) => void) | undefined
        hear?.apply(follower, told)
      } catch (error) {
        this.#onFault(error)
      }
    }
  }
}
