import { mixHash } from './chunk-slots.ts'

/** Chunks that are looked up together, and with no others. */
export interface Scope {
  readonly name: string
  readonly number: number
  readonly seed: number
  size: number
  /** the chunks used last and the longest time ago; −1: it has none */
  newest: number
  oldest: number
}

const mostScopes = 0x10000

/** Which scopes there are, and the chunks of each in the order of their last use. */
export class ChunkScopes {
  readonly #capacity: number
  readonly #newer: Int32Array
  readonly #older: Int32Array
  readonly #names = new Map<string, Scope>()
  readonly #numbers: (Scope | undefined)[] = []

  /** `capacity`: of chunks in all scopes. */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#newer = new Int32Array(capacity)
    this.#older = new Int32Array(capacity)
  }

  /** Chunks by the name of their scope. */
  get sizes(): ReadonlyMap<string, number> {
    return new Map([...this.#names].map(([name, { size }]) => [name, size]))
  }

  /** There are no numbers for more. */
  get isFull(): boolean {
    return this.#names.size >= mostScopes
  }

  get(name: string): Scope | undefined {
    return this.#names.get(name)
  }

  at(number: number): Scope {
    return this.#numbers[number]!
  }

  /** Begins a scope of this name, of which there must be none. */
  begin(name: string): Scope {
    let number = this.#numbers.indexOf(undefined)
    if (number < 0) number = this.#numbers.length
    const scope = { name, number, seed: mixHash(number + 1, 0x5bd1e995), size: 0, newest: -1, oldest: -1 }
    this.keep(scope)
    return scope
  }

  /** The scope is there, also if it has been dropped meanwhile. */
  keep(scope: Scope): void {
    this.#names.set(scope.name, scope)
    this.#numbers[scope.number] = scope
  }

  dropIfEmpty(scope: Scope): void {
    if (scope.size > 0) return
    this.#names.delete(scope.name)
    this.#numbers[scope.number] = undefined
  }

  /** The scope that has to give for another chunk of `scope`: this one, unless another has more and this one less than its share. */
  fullest(scope: Scope): Scope {
    if (scope.size >= this.#capacity / this.#names.size) return scope
    let fullest = scope
    for (const other of this.#names.values()) if (other.size > fullest.size) fullest = other
    return fullest
  }

  smallest(): Scope {
    let smallest: Scope | undefined
    for (const scope of this.#names.values()) if (scope.size < (smallest?.size ?? Infinity)) smallest = scope
    return smallest!
  }

  /** The chunks of a scope, those used last at the end. */
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

  /** The chunk is used now. */
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
