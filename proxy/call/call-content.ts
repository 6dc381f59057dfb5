import type { Json } from '#engine-adapters/json-object.ts'
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
export class CallContent implements ReadContent {
  /** empty once released */
  body: Buffer
  /** without a prompt once released */
  received: Received
  certain: CertainLists
  readonly #share: BodyShare

  constructor(body: Buffer, share: BodyShare, { received, certain }: ReadContent) {
    this.body = body
    this.received = received
    this.certain = certain
    this.#share = share
  }

  /** the top-level members of the body, as far as they were read */
  get members(): Json {
    return this.received.prompt?.members ?? this.received.whole?.members ?? {}
  }

  /** Takes what was read from the same body in another way, or from one that names another model. */
  readAgain({ received, certain }: ReadContent, body: Buffer = this.body): void {
    this.body = body
    this.received = received
    this.certain = certain
  }

  /** Drops the body and its texts, and gives back the memory taken for it. Further calls have no effect. */
  release(): void {
    this.body = Buffer.alloc(0)
    this.received = { prompt: undefined, tidied: [], fault: undefined, skipped: undefined }
    this.certain.release()
    this.#share.release()
  }
}
