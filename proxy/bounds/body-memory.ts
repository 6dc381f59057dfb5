import { ProxyError } from '../errors.ts'

/** How soon it is worth trying again: bodies are let go of as soon as an engine begins to answer. */
const retryAfterSeconds = 1

/** What one request takes of the memory for bodies. */
export interface BodyShare {
  /** Takes so many bytes more; throws `queue_full` when there is no room for them. */
  grow(bytes: number): void
  /** Gives all of it back; once is enough. */
  release(): void
}

/** The memory that bodies in flight take together, bounded. */
export class BodyMemory {
  #limit: number
  readonly #onChange: (bytes: number) => void
  #bytes = 0

  /** `onChange` is told how many bytes are held from now on. */
  constructor(limitBytes: number, onChange: (bytes: number) => void = () => {}) {
    this.#limit = limitBytes
    this.#onChange = onChange
  }

  /** Takes effect for what is received from now on. */
  setLimit(bytes: number): void {
    this.#limit = bytes
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes
  }

  /** The share of a new request, which is empty. */
  begin(): BodyShare {
    let own = 0
    return {
      grow: (bytes) => {
        if (this.#bytes + bytes > this.#limit) throw this.#full()
        own += bytes
        this.#add(bytes)
      },
      release: () => {
        if (own > 0) this.#add(-own)
        own = 0
      },
    }
  }

  #add(bytes: number): void {
    this.#bytes += bytes
    this.#onChange(this.#bytes)
  }

  #full(): ProxyError {
    const message = `The bodies of requests in flight take ${this.#limit} bytes together, which is the limit here: try again in ${retryAfterSeconds} s.`
    return new ProxyError('queue_full', message, { headers: { 'retry-after': String(retryAfterSeconds) } })
  }
}
