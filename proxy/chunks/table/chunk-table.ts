import type { ChunkHandle } from '../../prompt/certain-list.ts'
import { ChunkAnchors } from './chunk-anchors.ts'
import { ChunkColumns } from './chunk-columns.ts'
import type { ChunkFacts, ChunkRecord } from './chunk-record.ts'
import { ChunkScopes, type Scope } from './chunk-scopes.ts'
import { ChunkSlots, mixHash } from './chunk-slots.ts'
import { anchorLength, type FoldedText } from './folded-text.ts'

/** A known chunk at a place in a folded text. */
interface ChunkMatch {
  readonly chunk: number
  /** in folded characters */
  readonly start: number
  readonly end: number
}

/** The outcome of adding a chunk, and its number; −1: none. */
export interface Added {
  readonly outcome: 'added' | 'known' | 'too_short' | 'crowded'
  readonly chunk: number
}

/** Upper bound over all columns and tables. */
export const bytesPerChunk = 97

/**
 * The known chunks: digest, length and one anchor of each, never its text. A plain data structure without clock or
 * randomness; 1,000,000 chunks take 97 MB. Scopes are never mixed. In a full table the least recently used chunk makes
 * room: one of the scope that needs room, unless that scope has less than its share.
 */
export class ChunkTable {
  readonly capacity: number
  /** what is kept of each chunk, by its number; for reading */
  readonly columns: ChunkColumns
  readonly #byAnchor: ChunkAnchors
  readonly #byDigest: ChunkSlots
  readonly #free: number[] = []
  readonly #scopes: ChunkScopes
  #used = 0

  constructor(capacity: number) {
    this.capacity = capacity
    this.columns = new ChunkColumns(capacity)
    const seedOf = (chunk: number): number => this.#scopeOfChunk(chunk).seed
    this.#byAnchor = new ChunkAnchors(capacity, this.columns, seedOf)
    this.#byDigest = new ChunkSlots(capacity, (chunk) => mixHash(this.columns.stampOf(chunk), seedOf(chunk)))
    this.#scopes = new ChunkScopes(capacity)
  }

  get size(): number {
    return this.#used - this.#free.length
  }

  /** Number of chunks by name of the scope. */
  get sizes(): ReadonlyMap<string, number> {
    return this.#scopes.sizes
  }

  /** Adds a folded text as a chunk. A known chunk counts as used, and becomes sure if the facts say so. */
  add(scopeName: string, text: FoldedText, facts: ChunkFacts): Added {
    const { length } = text
    if (length < anchorLength) return { outcome: 'too_short', chunk: -1 }
    const scope = this.#scopeOf(scopeName)
    const digest = text.digestOf(0, length)
    const known = this.#find(scope, digest, length)
    if (known >= 0) return this.#learnMore(known, facts)
    const anchorPlace = this.#byAnchor.choose(scope, text)
    if (anchorPlace < 0) return this.#refuse(scope)
    const anchor = text.anchorAt(anchorPlace)
    const own = { length, digest, anchor, anchorPlace, hash: text.hashOf(0, length), sighting: 0 }
    return this.#insert(scope, { ...own, ...facts })
  }

  /** Adds a chunk that another proxy reported. */
  addRecord(scopeName: string, record: ChunkRecord): Added {
    const scope = this.#scopeOf(scopeName)
    const known = this.#find(scope, record.digest, record.length)
    if (known >= 0) return this.#learnMore(known, record)
    if (this.#byAnchor.isCrowded(scope, record.anchor)) return this.#refuse(scope)
    return this.#insert(scope, record)
  }

  /** Finds the chunk with this folded text; undefined if it is not known. */
  find(scopeName: string, text: FoldedText): ChunkHandle | undefined {
    const scope = this.#scopes.get(scopeName)
    if (!scope || text.length < anchorLength) return undefined
    const chunk = this.#find(scope, text.digestOf(0, text.length), text.length)
    return chunk < 0 ? undefined : this.columns.handleOf(chunk)
  }

  /** Forgets a chunk if it is still the one that was meant; returns whether it was. */
  remove(handle: ChunkHandle): boolean {
    const isThere = this.columns.isThere(handle)
    if (isThere) this.#delete(handle.chunk)
    return isThere
  }

  /** Returns the chunks of a scope, most recently used last. */
  chunksOf(scopeName: string): number[] {
    const scope = this.#scopes.get(scopeName)
    return scope ? this.#scopes.chunksOf(scope) : []
  }

  /** A hash of the question of the last list that contained a chunk without its neighbours in the given order; 0: none. */
  listOf(chunk: number): number {
    return this.columns.sightingOf(chunk) >>> 16
  }

  /** Whether a text is only known as a candidate of reranks, which are not enough yet to make it a chunk. */
  isCandidate(chunk: number): boolean {
    return !this.columns.isSure(chunk) && !this.columns.isOrdered(chunk)
  }

  scopeOf(chunk: number): string {
    return this.#scopeOfChunk(chunk).name
  }

  /**
   * Notes that chunks were in one list, each without its neighbours in the given order; this counts as a use, too.
   * `question`: a hash of what was asked. A prompt shows something only of chunks that are sure, a rerank (`areSure`
   * false) only of its candidates, since one question leads to both. Returns the chunks of which other proxies have to
   * know it: a second list with another question makes them chunks of their own.
   */
  noteList(handles: readonly ChunkHandle[], question: number, areSure: boolean): number[] {
    // 0 would mean that it was seen nowhere
    const asked = (question & 0xffff) << 16 || 1 << 16
    return handles.flatMap((handle, i) => {
      const { chunk } = handle
      if (!this.columns.isThere(handle)) return []
      this.#scopes.touch(this.#scopeOfChunk(chunk), chunk)
      if (this.columns.isSure(chunk) !== areSure) return []
      const isFirst = this.columns.sightingOf(chunk) === 0 && !areSure
      const wasApart = this.columns.isApart(chunk)
      // mixed twice, because the hash of two words does not show which came first
      const neighbours = mixHash(mixHash(handles[i - 1]?.stamp ?? 0, 1), handles[i + 1]?.stamp ?? 0)
      this.columns.see(chunk, (asked | (neighbours & 0xffff)) >>> 0)
      return isFirst || this.columns.isApart(chunk) !== wasApart ? [chunk] : []
    })
  }

  /**
   * Finds all places in a text where chunks of these scopes are, in no order; each is compared by SHA-256. Linear in
   * the text, whatever the number of chunks.
   */
  match(text: FoldedText, scopeNames: readonly string[]): ChunkMatch[] {
    const found: ChunkMatch[] = []
    for (const name of scopeNames) {
      const scope = this.#scopes.get(name)
      if (scope) this.#byAnchor.lookUp(text, scope, (chunk, at) => this.#verify(text, chunk, at, found))
    }
    return found
  }

  #verify(text: FoldedText, chunk: number, at: number, found: ChunkMatch[]): void {
    const start = at - this.columns.anchorPlaceOf(chunk)
    const length = this.columns.lengthOf(chunk)
    if (start < 0 || start + length > text.length) return
    if (text.hashOf(start, length) !== this.columns.hashOf(chunk)) return
    if (this.columns.hasDigest(chunk, text.digestOf(start, length))) found.push({ chunk, start, end: start + length })
  }

  #find(scope: Scope, digest: Int32Array, length: number): number {
    const hash = mixHash(digest[0]!, scope.seed)
    const columns = this.columns
    for (let slot = this.#byDigest.next(hash, hash); slot >= 0; slot = this.#byDigest.next(hash, slot + 1)) {
      const chunk = this.#byDigest.at(slot)
      const isSame = columns.lengthOf(chunk) === length && columns.scopeOf(chunk) === scope.number
      if (isSame && columns.hasDigest(chunk, digest)) return chunk
    }
    return -1
  }

  #refuse(scope: Scope): Added {
    this.#scopes.dropIfEmpty(scope)
    return { outcome: 'crowded', chunk: -1 }
  }

  #learnMore(chunk: number, facts: ChunkFacts): Added {
    this.columns.learnMore(chunk, facts)
    this.#scopes.touch(this.#scopeOfChunk(chunk), chunk)
    return { outcome: 'known', chunk }
  }

  #insert(scope: Scope, record: ChunkRecord): Added {
    const chunk = this.#take(scope)
    // the chunk that made room may have been the scope's last
    this.#scopes.keep(scope)
    this.columns.write(chunk, scope.number, record)
    this.#byAnchor.put(chunk)
    this.#byDigest.put(chunk)
    this.#scopes.add(scope, chunk)
    return { outcome: 'added', chunk }
  }

  #delete(chunk: number): void {
    const scope = this.#scopeOfChunk(chunk)
    this.#byAnchor.remove(chunk)
    this.#byDigest.remove(chunk)
    this.#scopes.remove(scope, chunk)
    this.columns.erase(chunk)
    this.#free.push(chunk)
    this.#scopes.dropIfEmpty(scope)
  }

  /** Returns a place for a chunk of this scope; if none is free, a chunk that was used long ago makes room. */
  #take(scope: Scope): number {
    if (this.#free.length === 0 && this.#used < this.capacity) return this.#used++
    if (this.#free.length === 0) this.#delete(this.#scopes.fullest(scope).oldest)
    return this.#free.pop()!
  }

  #scopeOf(name: string): Scope {
    const known = this.#scopes.get(name)
    if (known) return known
    if (this.#scopes.isFull) for (const chunk of this.#scopes.chunksOf(this.#scopes.smallest())) this.#delete(chunk)
    return this.#scopes.begin(name)
  }

  #scopeOfChunk(chunk: number): Scope {
    return this.#scopes.at(this.columns.scopeOf(chunk))
  }
}
