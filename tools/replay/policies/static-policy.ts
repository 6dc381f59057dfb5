import type { ReplayRequest } from '../replay-request.ts'
import type { OnlinePolicy } from './online-policy.ts'

/** Orders every request by itself, whatever was sent before. */
export class StaticPolicy implements OnlinePolicy {
  readonly #orderOf: (request: ReplayRequest) => readonly number[]

  constructor(orderOf: (request: ReplayRequest) => readonly number[]) {
    this.#orderOf = orderOf
  }

  order(request: ReplayRequest): readonly number[] {
    return this.#orderOf(request)
  }

  sent(): void {}

  cut(): void {}

  pathOf(): readonly number[] {
    return []
  }
}
