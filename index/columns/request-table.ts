import type { RequestId, RequestKey } from '../context-block.ts'

/**
 * Requests as small integers, in the order they were added, so that data about requests can be stored in columns. The
 * number of a deleted request is reused.
 */
export class RequestTable<Request extends RequestKey = RequestId> {
  readonly #numbers = new Map<Request, number>()
  /** by number */
  readonly #requests: Request[] = []
  readonly #free: number[] = []
  /** stands at the oldest request: a new iterator would pass all that were deleted before it */
  #walk: IterableIterator<Request> = this.#numbers.keys()
  #oldest: Request | undefined

  get size(): number {
    return this.#numbers.size
  }

  /** Exclusive upper bound of all numbers. */
  get end(): number {
    return this.#requests.length
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.size * (typeof this.#requests[0] === 'number' ? bytesPerNumber : bytesPerName)
  }

  find(request: Request): number | undefined {
    return this.#numbers.get(request)
  }

  /** Returns the request with a number. */
  requestOf(number: number): Request {
    return this.#requests[number]!
  }

  /** Adds a request, which must not be in the table. Returns its number. */
  add(request: Request): number {
    const number = this.#free.pop() ?? this.#requests.length
    this.#requests[number] = request
    this.#numbers.set(request, number)
    return number
  }

  /** Deletes a request. Returns the number it had; undefined if it is not in the table. */
  delete(request: Request): number | undefined {
    const number = this.#numbers.get(request)
    if (number === undefined) return undefined
    this.#numbers.delete(request)
    this.#free.push(number)
    if (request === this.#oldest) this.#oldest = undefined
    return number
  }

  /** Deletes all requests. */
  clear(): void {
    this.#numbers.clear()
    this.#requests.length = 0
    this.#free.length = 0
    this.#oldest = undefined
  }

  /** Returns the request that was added first; undefined if there is none. */
  oldest(): Request | undefined {
    if (this.#oldest !== undefined || this.size === 0) return this.#oldest
    let next = this.#walk.next()
    if (next.done) {
      this.#walk = this.#numbers.keys()
      next = this.#walk.next()
    }
    this.#oldest = next.value
    return this.#oldest
  }

  /** Yields all requests and their numbers, oldest first, including those added during the iteration. */
  entries(): IterableIterator<[Request, number]> {
    return this.#numbers.entries()
  }
}

// measured on Node 20: a key and its place in a map and in a list, and an id of 45 characters
const bytesPerName = 140
const bytesPerNumber = 60
