import type { RequestId } from './context-block.ts'
import { reserveAll, wholeColumn } from './number-column.ts'
import { ShardedMap } from './sharded-map.ts'

const none = -1

/**
 * Requests as small whole numbers, in the order they were added: what is known of one lies in columns. A number is given
 * to another request once its own has gone.
 */
export class RequestTable {
  readonly #numbers = new ShardedMap<RequestId, number>()
  readonly #ids: RequestId[] = []
  /** by number: the request that was added before, and after */
  readonly #previous = wholeColumn()
  readonly #next = wholeColumn()
  readonly #links = [this.#previous, this.#next]
  readonly #free: number[] = []
  #first = none
  #last = none
  /** where walks through all requests go on */
  readonly #walks = new Set<{ at: number }>()

  get size(): number {
    return this.#numbers.size
  }

  /** All numbers are below it. */
  get end(): number {
    return this.#ids.length
  }

  /** An estimate of the memory it takes. */
  get bytes(): number {
    return this.#previous.bytes + this.#next.bytes + this.size * bytesPerRequest
  }

  find(request: RequestId): number | undefined {
    return this.#numbers.get(request)
  }

  /** Gives a number to a request that has none. */
  add(request: RequestId): number {
    const number = this.#free.pop() ?? this.#ids.length
    this.#ids[number] = request
    this.#numbers.set(request, number)
    reserveAll(this.#links, this.end)
    this.#previous.array[number] = this.#last
    this.#next.array[number] = none
    if (this.#last === none) this.#first = number
    else this.#next.array[this.#last] = number
    this.#last = number
    for (const walk of this.#walks) if (walk.at === none) walk.at = number
    return number
  }

  /** Takes the number back that a request has, and tells it. */
  delete(request: RequestId): number {
    const number = this.#numbers.get(request)!
    const [previous, next] = [this.#previous.array[number]!, this.#next.array[number]!]
    if (previous === none) this.#first = next
    else this.#next.array[previous] = next
    if (next === none) this.#last = previous
    else this.#previous.array[next] = previous
    for (const walk of this.#walks) if (walk.at === number) walk.at = next
    this.#numbers.delete(request)
    this.#free.push(number)
    return number
  }

  /** The one that was added first. */
  oldest(): RequestId | undefined {
    return this.#first === none ? undefined : this.#ids[this.#first]
  }

  /** All requests, those added first first; goes on through those that are added meanwhile, until it has told of all. */
  *entries(): Generator<[RequestId, number]> {
    const walk = { at: this.#first }
    this.#walks.add(walk)
    try {
      while (walk.at !== none) {
        const number = walk.at
        walk.at = this.#next.array[number]!
        yield [this.#ids[number]!, number]
      }
    } finally {
      this.#walks.delete(walk)
    }
  }
}

// measured on Node 20: an id of 45 characters and its place in a map and in a list
const bytesPerRequest = 120
