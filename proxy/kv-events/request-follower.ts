import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { PromptApi } from '../prompt/prompt.ts'
import type { Replica } from '../replicas/replica.ts'

/** Tells what reads an engine's events of one request on its way, where its replica has such; does nothing otherwise. */
export class RequestFollower {
  readonly #events: Replica['events']
  readonly #ids: readonly RequestId[]
  readonly #api: PromptApi
  #sent: EngineRequest | undefined
  #isAnswered = false

  constructor({ events }: Pick<Replica, 'events'>, api: PromptApi, ids: readonly RequestId[]) {
    this.#events = events
    this.#api = api
    this.#ids = ids
  }

  /** It goes to the engine now. */
  sent<T extends EngineRequest>(request: T, prompts: readonly SentPrompt[]): T {
    if (this.#events && this.#ids.length > 0) {
      this.#sent = request
      this.#events.sent(this.#ids, prompts)
    }
    return request
  }

  /** The head of the answer has come. */
  answered(status: number): void {
    const sent = this.#sent
    // its body is not kept any longer than the question needs it
    this.#sent = undefined
    if (!sent || status < 200 || status >= 300 || !Buffer.isBuffer(sent.body)) return
    this.#isAnswered = true
    const { path, headers, body } = sent
    this.#events!.answered(this.#ids, { api: this.#api, path, headers, body })
  }

  /** It is over, well or badly. */
  ended(): void {
    if (this.#isAnswered) this.#events!.ended(this.#ids)
    else this.#events?.failed(this.#ids)
  }
}
