import type { CertainLists } from '../chunks/certain-lists.ts'
import type { BodyShare } from '../http/bounds/body-memory.ts'
import type { Received } from '../http/receive/read-received.ts'

export interface ReadContent {
  readonly received: Received
  readonly certain: CertainLists
}

/**
 * The body of a request and all that was read from it: the one part of a `Call` that changes. It is released once the
 * body will not be sent again, because answers take long and many run at once.
 */
export class CallContent {
  #body: Buffer
  #received: Received
  readonly #share: BodyShare
  #certain: CertainLists

  constructor(body: Buffer, share: BodyShare, { received, certain }: ReadContent) {
    this.#body = body
    this.#share = share
    this.#received = received
    this.#certain = certain
  }

  /** empty once released */
  get body(): Buffer {
    return this.#body
  }

  /** without a prompt once released */
  get received(): Received {
    return this.#received
  }

  get certain(): CertainLists {
    return this.#certain
  }

  /** Takes what was read from the same body in another way, or from one that names another model. */
  readAgain({ received, certain }: ReadContent, body: Buffer = this.#body): void {
    this.#body = body
    this.#received = received
    this.#certain = certain
  }

  /** Drops the body and its texts, and gives back the memory taken for it. Further calls have no effect. */
  release(): void {
    this.#body = Buffer.alloc(0)
    this.#received = { prompt: undefined, tidied: [], fault: undefined, skipped: undefined }
    this.#certain.release()
    this.#share.release()
  }
}
