import { mixHash } from './chunk-slots.ts'

/** A set of chunks that are looked up together, and never with others. */
export interface Scope {
  readonly name: string
  readonly number: number
  readonly seed: number
  size: number
  /** the most and the least recently used chunk; −1: it has none */
  newest: number
  oldest: number
}

const mostScopes = 0x10000

/** All scopes by name, and the chunks of each in the order of their last use. */
export class ChunkScopes extends Map<string, Scope> {
  readonly #capacity: number
  readonly #newer: Int32Array
  readonly #older: Int32Array
  readonly #numbers: (Scope | undefined)[] = []

  /** `capacity`: number of chunks in all scopes. */
  constructor(capacity: number) {
    super()
    this.#capacity = capacity
    this.#newer = new Int32Array(capacity)
    this.#older = new Int32Array(capacity)
  }

  /** Number of chunks by name of the scope. */
  get sizes(): ReadonlyMap<string, number> {
    return new Map([...this].map(([name, { size }]) => [name, size]))
  }

  /** Whether no numbers are left for further scopes. */
  get isFull(): boolean {
    return this.size >= mostScopes
  }

  at(number: number): Scope {
    return this.#numbers[number]!
  }

  /** Creates a scope with this name, which must not exist yet. */
  begin(name: string): Scope {
    let number = this.#numbers.indexOf(undefined)
    if (number < 0) number = this.#numbers.length
    const scope = { name, number, seed: mixHash(number + 1, 0x5bd1e995), size: 0, newest: -1, oldest: -1 }
    this.keep(scope)
    return scope
  }

  /** Makes sure that the scope exists, even if it has been dropped meanwhile. */
  keep(scope: Scope): void {
    this.set(scope.name, scope)
    this.#numbers[scope.number] = scope
  }

  dropIfEmpty(scope: Scope): void {
    if (scope.size > 0) return
    this.delete(scope.name)
    this.#numbers[scope.number] = undefined
  }

  /**
   * Returns the scope that must give up a chunk for a new one of `scope`: `scope` itself, unless it has less than its
   * share; then the largest.
   */
  fullest(scope: Scope): Scope {
    if (scope.size >= this.#capacity / this.size) return scope
    let fullest = scope
    for (const other of this.values()) if (other.size > fullest.size) fullest = other
    return fullest
  }

  smallest(): Scope {
    let smallest: Scope | undefined
    for (const scope of this.values()) if (scope.size < (smallest?.size ?? Infinity)) smallest = scope
    return smallest!
  }

  /** Returns the chunks of a scope, most recently used last. */
  chunksOf({ oldest }: Scope): number[] {
    const chunks: number[] = []
    for (let chunk = oldest; chunk >= 0; chunk = this.#newer[chunk]!) chunks.push(chunk)
    return chunks
  }

  add(scope: Scope, chunk: number): void {
    this.#link(scope, chunk)
    scope.size += 1
  }

  remove(scope: Scope, chunk: number): void {
    this.#unlink(scope, chunk)
    scope.size -= 1
  }

  /** Marks the chunk as used now. */
  touch(scope: Scope, chunk: number): void {
    if (scope.newest === chunk) return
    this.#unlink(scope, chunk)
    this.#link(scope, chunk)
  }

  #link(scope: Scope, chunk: number): void {
    this.#newer[chunk] = -1
    this.#older[chunk] = scope.newest
    if (scope.newest >= 0) this.#newer[scope.newest] = chunk
    else scope.oldest = chunk
    scope.newest = chunk
  }

  #unlink(scope: Scope, chunk: number): void {
    const [newer, older] = [this.#newer[chunk]!, this.#older[chunk]!]
    if (newer >= 0) this.#older[newer] = older
    else scope.newest = older
    if (older >= 0) this.#newer[older] = newer
    else scope.oldest = newer
  }
}
