import type { SentPrompt } from './cache-event.ts'
import type { RequestId } from './context-block.ts'
import { floatColumn, type NumberColumn, wholeColumn } from './number-column.ts'

/** A mirrored request: its number in the columns of `MirroredRequests`, which lives as long as it is mirrored. */
export type MirroredRequest = number

/** The requests that are mirrored, in the order they were sent; what is known of each lies in columns, 36 bytes a request. */
export class MirroredRequests {
  /** where the prompt ends in the tree of prompts */
  readonly ends: NumberColumn = wholeColumn()
  /** characters of the prompt */
  readonly lengths: NumberColumn = wholeColumn()
  readonly heldLengths: NumberColumn = wholeColumn()
  readonly blocks: NumberColumn = wholeColumn()
  /** tokens a character; 0 until the engine has counted */
  readonly densities: NumberColumn<Float64Array> = floatColumn()
  /** as `CacheMirror.noteTime` noted it */
  readonly times: NumberColumn<Float64Array> = floatColumn()
  /** prompts that the tree cannot tell of as they were sent */
  readonly #odd = new Map<MirroredRequest, SentPrompt>()
  readonly #numbers = new Map<RequestId, MirroredRequest>()
  readonly #free: MirroredRequest[] = []
  #end = 0

  get size(): number {
    return this.#numbers.size
  }

  /** An estimate of the memory they take. */
  get bytes(): number {
    const columns = [this.ends, this.lengths, this.heldLengths, this.blocks, this.densities, this.times]
    return columns.reduce((sum, { bytes }) => sum + bytes, this.size * bytesPerId + this.#odd.size * bytesPerOddPrompt)
  }

  find(request: RequestId): MirroredRequest | undefined {
    return this.#numbers.get(request)
  }

  /** The one that was sent first. */
  oldest(): RequestId | undefined {
    return this.#numbers.keys().next().value
  }

  ids(): IterableIterator<RequestId> {
    return this.#numbers.keys()
  }

  entries(): IterableIterator<[RequestId, MirroredRequest]> {
    return this.#numbers.entries()
  }

  /** Mirrors a request, of which nothing is held yet. */
  add(request: RequestId, end: number, length: number, blocks: number): MirroredRequest {
    const number = this.#free.pop() ?? this.#end++
    for (const column of [this.ends, this.lengths, this.heldLengths, this.blocks, this.densities, this.times]) {
      column.reserve(this.#end)
      column.array[number] = 0
    }
    this.#numbers.set(request, number)
    this.ends.array[number] = end
    this.lengths.array[number] = length
    this.blocks.array[number] = blocks
    return number
  }

  delete(request: RequestId): void {
    const number = this.#numbers.get(request)!
    this.#numbers.delete(request)
    this.#odd.delete(number)
    this.#free.push(number)
  }

  /** Keeps the prompt itself. */
  keepPrompt(number: MirroredRequest, prompt: SentPrompt): void {
    this.#odd.set(number, prompt)
  }

  /** The prompt itself, if it is kept. */
  keptPrompt(number: MirroredRequest): SentPrompt | undefined {
    return this.#odd.get(number)
  }

  clear(): void {
    this.#numbers.clear()
    this.#odd.clear()
    this.#free.length = 0
    this.#end = 0
  }
}

// measured on Node 20: an id of 45 characters and its place in a map
const bytesPerId = 120
const bytesPerOddPrompt = 3_000
