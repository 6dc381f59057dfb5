import type { RequestId, RequestKey } from '../context-block.ts'
import type { NumberColumn } from './number-column.ts'

/**
 * Requests as small integers, in the order they were added, so that data about requests can be stored in columns. The
 * number of a deleted request is reused.
 */
export class RequestTable<Request extends RequestKey = RequestId> {
  readonly #numbers = new Map<Request, number>()
  /** by number */
  readonly #requests: Request[] = []
  readonly #free: number[] = []
  /** data by number */
  protected readonly columns: readonly NumberColumn[]
  /** stands at the oldest request: a new iterator would pass all that were deleted before it */
  #walk: IterableIterator<Request> = this.#numbers.keys()
  #oldest: Request | undefined

  constructor(columns: readonly NumberColumn[] = []) {
    this.columns = columns
  }

  get size(): number {
    return this.#numbers.size
  }

  /** Estimated memory, with the columns. */
  get bytes(): number {
    const own = this.size * (typeof this.#requests[0] === 'number' ? bytesPerNumber : bytesPerName)
    return this.columns.reduce((sum, { bytes }) => sum + bytes, own)
  }

  find(request: Request): number | undefined {
    return this.#numbers.get(request)
  }

  /** Returns the request with a number. */
  requestOf(number: number): Request {
    return this.#requests[number]!
  }

  /** Adds a request, which must not be in the table, with 0 in all columns. Returns its number. */
  add(request: Request): number {
    const number = this.#free.pop() ?? this.#requests.length
    this.#requests[number] = request
    this.#numbers.set(request, number)
    for (const column of this.columns) {
      column.reserve(number + 1)
      column.set(number, 0)
    }
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
