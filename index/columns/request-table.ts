import type { RequestId, RequestKey } from '../context-block.ts'
import { reserveAll, WholeColumn } from './number-column.ts'
import { NumberTable } from './number-table.ts'
import { PagedList } from './paged-list.ts'
import { ShardedMap } from './sharded-map.ts'

const none = -1

/**
 * Requests as small integers, in the order they were added, so that data about requests can be stored in columns. The
 * number of a deleted request is reused.
 */
export class RequestTable<Request extends RequestKey = RequestId> {
  /** names come from outside; a built-in map is safe against chosen collisions */
  readonly #byName = new ShardedMap<RequestId, number>()
  readonly #byNumber = new NumberTable()
  readonly #requests = new PagedList<Request>()
  /** by number: the requests added before and after it */
  readonly #previous = new WholeColumn()
  readonly #next = new WholeColumn()
  readonly #links = [this.#previous, this.#next]
  readonly #free: number[] = []
  #first = none
  #last = none
  /** positions of the running iterations */
  readonly #walks = new Set<{ at: number }>()

  get size(): number {
    return this.#requests.length - this.#free.length
  }

  /** Exclusive upper bound of all numbers. */
  get end(): number {
    return this.#requests.length
  }

  /** Estimated memory. */
  get bytes(): number {
    const perRequest = this.#byName.size > 0 ? bytesPerName : bytesPerNumber
    return this.#previous.bytes + this.#next.bytes + this.#byNumber.bytes + this.size * perRequest
  }

  find(request: Request): number | undefined {
    if (typeof request !== 'number') return this.#byName.get(request)
    const hash = hashOf(request)
    let number = this.#byNumber.first(hash)
    while (number >= 0 && this.#requests.at(number) !== request) number = this.#byNumber.next(hash)
    return number < 0 ? undefined : number
  }

  /** Returns the request with a number. */
  requestOf(number: number): Request {
    return this.#requests.at(number)
  }

  /** Adds a request, which must not be in the table. Returns its number. */
  add(request: Request): number {
    const number = this.#free.pop() ?? this.#requests.length
    this.#requests.set(number, request)
    if (typeof request === 'number') this.#byNumber.add(hashOf(request), number)
    else this.#byName.set(request, number)
    reserveAll(this.#links, this.end)
    this.#previous.set(number, this.#last)
    this.#next.set(number, none)
    if (this.#last === none) this.#first = number
    else this.#next.set(this.#last, number)
    this.#last = number
    for (const walk of this.#walks) if (walk.at === none) walk.at = number
    return number
  }

  /** Deletes a request. Returns the number it had; undefined if it is not in the table. */
  delete(request: Request): number | undefined {
    const number = this.find(request)
    if (number === undefined) return undefined
    const [previous, next] = [this.#previous.at(number), this.#next.at(number)]
    if (previous === none) this.#first = next
    else this.#next.set(previous, next)
    if (next === none) this.#last = previous
    else this.#previous.set(next, previous)
    for (const walk of this.#walks) if (walk.at === number) walk.at = next
    if (typeof request === 'number') this.#byNumber.delete(hashOf(request), number)
    else this.#byName.delete(request)
    this.#free.push(number)
    return number
  }

  /** Deletes all requests. */
  clear(): void {
    this.#byName.clear()
    this.#byNumber.clear()
    this.#requests.clear()
    this.#free.length = 0
    this.#first = none
    this.#last = none
    for (const walk of this.#walks) walk.at = none
  }

  /** Returns the request that was added first; undefined if there is none. */
  oldest(): Request | undefined {
    return this.#first === none ? undefined : this.#requests.at(this.#first)
  }

  /** Yields all requests and their numbers, oldest first, including those added during the iteration. */
  *entries(): Generator<[Request, number]> {
    const walk = { at: this.#first }
    this.#walks.add(walk)
    try {
      while (walk.at !== none) {
        const number = walk.at
        walk.at = this.#next.at(number)
        yield [this.#requests.at(number), number]
      }
    } finally {
      this.#walks.delete(walk)
    }
  }
}

// measured on Node 20: an id of 45 characters and its place in a map and in a list
const bytesPerName = 120
const bytesPerNumber = 9

function hashOf(request: number): number {
  const hash = Math.imul(request, 0x9e3779b1)
  return hash ^ (hash >>> 15)
}
