import { randomUUID } from 'node:crypto'
import type { RequestId } from '#index/context-block.ts'

/** What may be sent on in a header as an id. */
const acceptable = /^[\x21-\x7e]{1,200}$/

/** By this SGLang knows its own health probes: it answers them when it likes, and nobody reports what it holds of them. */
const probe = /^HEALTH_CHECK/

/** Gives each request an id that no live or mirrored request has, near to the one its client wants. */
export class RequestIds {
  readonly #live = new Set<string>()
  readonly #isMirrored: (id: RequestId) => boolean

  constructor(isMirrored: (id: RequestId) => boolean) {
    this.#isMirrored = isMirrored
  }

  /**
   * The id to give the engine; `release` it when the request has ended. `namesOf`: what its prompts may be called by it,
   * where that is another name.
   */
  take(wanted: string | undefined, namesOf: (id: RequestId) => readonly RequestId[] = () => []): RequestId {
    let id = wanted && acceptable.test(wanted) ? wanted.replace(probe, 'request-$&') : randomUUID()
    const names = [id as RequestId, ...namesOf(id as RequestId)]
    if (this.#live.has(id) || names.some(this.#isMirrored)) id = `${id}-${randomUUID().slice(0, 8)}`
    this.#live.add(id)
    return id as RequestId
  }

  release(id: RequestId): void {
    this.#live.delete(id)
  }
}
