import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ProxyError } from '../../common/errors.ts'

/** A larger body cannot take the last part of the memory from those of others. */
const smallBytes = 1024 * 1024
const lastPart = 1 / 16

/** Bodies take up to four times their size while they are read. */
const mostOfAll = Math.min(512 * 1024 * 1024, (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 4)

/** Memory for all bodies in flight, if the largest may have `bodyBytes`. */
export function memoryForBodies(bodyBytes: number, most: number = mostOfAll): number {
  return Math.max(bodyBytes, most)
}

/** How soon a retry is worthwhile: bodies are freed as soon as an engine starts to answer. */
const retryAfterSeconds = 1

/** One request's share of the memory for bodies. */
export interface BodyShare {
  /** Takes more bytes. Throws `queue_full` if there is no room for them. */
  grow(bytes: number): void
  /** Gives all of it back. Further calls have no effect. */
  release(): void
}

/**
 * Bounds the memory of all bodies in flight. One tenant gets at most half of it, except for a single body. The last part
 * of it is for small bodies, so that a few clients who do not finish large ones do not shut out everybody.
 */
export class BodyMemory {
  /** for bytes received from now on */
  limit: number
  readonly #onChange: (bytes: number) => void
  #bytes = 0
  readonly #byTenant = new Map<string, number>()

  /** `onChange` is called with the number of bytes held, whenever it changes. */
  constructor(limitBytes: number, onChange: (bytes: number) => void = () => {}) {
    this.limit = limitBytes
    this.#onChange = onChange
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns an empty share for a new request. */
  begin(tenant: string): BodyShare {
    let own = 0
    return {
      grow: (bytes) => {
        const ofTenant = this.#byTenant.get(tenant) ?? 0
        const isSmallOrAlone = own + bytes <= smallBytes || this.#bytes === own
        const room = isSmallOrAlone ? this.limit : this.limit * (1 - lastPart)
        if (this.#bytes + bytes > room) throw this.#full('requests', room)
        if (ofTenant > own && ofTenant + bytes > this.limit / 2) throw this.#full('your requests', this.limit / 2)
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

/** Less is not worth a collection, which holds up requests for some 50 ms. */
const worthwhileBytes = 128 * 1024 * 1024
/** Wait this long after the last large body, so that nothing is held up during a burst. */
const calmMilliseconds = 10_000

/**
 * Returns the memory of large bodies to the system once they are gone: to be told how many bytes they take, whenever that
 * changes. V8 collects memory outside its heap only when more is requested: after a burst of bodies a gigabyte would stay
 * allocated until the next one.
 */
export function memoryRelease(collect: () => void): (bytes: number) => void {
  let most = 0
  let timer: NodeJS.Timeout | undefined
  const release = (): void => {
    timer = undefined
    most = 0
    collect()
  }
  return (bytes) => {
    most = Math.max(most, bytes)
    if (most < worthwhileBytes) return
    if (bytes > most / 4) {
      clearTimeout(timer)
      timer = undefined
    } else {
      timer ??= setTimeout(release, calmMilliseconds).unref()
    }
  }
}

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
