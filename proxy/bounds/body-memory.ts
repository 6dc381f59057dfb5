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

/** The memory that bodies in flight take together, bounded; those of one tenant take half of it at most, or are one. */
export class BodyMemory {
  #limit: number
  readonly #onChange: (bytes: number) => void
  #bytes = 0
  readonly #byTenant = new Map<string, number>()

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
  begin(tenant: string): BodyShare {
    let own = 0
    return {
      grow: (bytes) => {
        const ofTenant = this.#byTenant.get(tenant) ?? 0
        if (this.#bytes + bytes > this.#limit) throw this.#full('requests', this.#limit)
        if (ofTenant > own && ofTenant + bytes > this.#limit / 2) throw this.#full('your requests', this.#limit / 2)
        own += bytes
        this.#add(tenant, bytes)
      },
      release: () => {
        if (own > 0) this.#add(tenant, -own)
        own = 0
      },
    }
  }

  #add(tenant: string, bytes: number): void {
    this.#bytes += bytes
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) + bytes
    if (ofTenant > 0) this.#byTenant.set(tenant, ofTenant)
    else this.#byTenant.delete(tenant)
    this.#onChange(this.#bytes)
  }

  #full(whose: string, limit: number): ProxyError {
    const message = `The bodies of ${whose} in flight take ${Math.floor(limit)} bytes together, which is the limit here: try again in ${retryAfterSeconds} s.`
    return new ProxyError('queue_full', message, { headers: { 'retry-after': String(retryAfterSeconds) } })
  }
}
