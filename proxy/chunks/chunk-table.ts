import { ChunkColumns, type ChunkHandle, type GivenOrder } from './chunk-columns.ts'
import { type ChunkFacts, type ChunkRecord, digestWords } from './chunk-record.ts'
import { ChunkScopes, type Scope } from './chunk-scopes.ts'
import { ChunkSlots, mixHash } from './chunk-slots.ts'
import { anchorLength, type FoldedText } from './folded-text.ts'

/** A known chunk at a place of a folded text. */
export interface ChunkMatch {
  readonly chunk: number
  /** in folded characters */
  readonly start: number
  readonly end: number
}

/** What became of a chunk that was added, and which it is; −1: none. */
export interface Added {
  readonly outcome: 'added' | 'known' | 'too_short' | 'crowded'
  readonly chunk: number
}

/** Of all columns and tables, at the most. */
export const bytesPerChunk = 97

/** So many places of a chunk may become its anchor: the first that no other chunk has. */
const mostAnchors = 48
/** Chunks with one anchor are near copies; with more, every text that holds one would be slow. */
const mostAlike = 64

/**
 * The chunks that are known: of each digest, length and one anchor, never its text. A plain data structure without clock
 * or chance; 1,000,000 chunks take 97 MB. Scopes never meet. In a full table the chunk that was used the longest time
 * ago makes room: of the scope that needs it, unless that has less than its share.
 */
export class ChunkTable {
  readonly capacity: number
  readonly #columns: ChunkColumns
  readonly #byAnchor: ChunkSlots
  readonly #byDigest: ChunkSlots
  /** how many chunks have an anchor that is not sampled, by a part of its hash */
  readonly #rare: Uint8Array
  /** a bit for each of these counts that is not 0: a text asks for thousands, which stay in a processor's cache */
  readonly #isRare: Uint32Array
  readonly #free: number[] = []
  readonly #scopes: ChunkScopes
  #used = 0
  #size = 0
  #lists = 0

  constructor(capacity: number) {
    this.capacity = capacity
    this.#columns = new ChunkColumns(capacity)
    this.#byAnchor = new ChunkSlots(capacity, (chunk) => this.#anchorHash(chunk))
    this.#byDigest = new ChunkSlots(capacity, (chunk) => this.#digestHash(chunk))
    this.#rare = new Uint8Array(2 ** Math.ceil(Math.log2(Math.max(2, capacity))))
    this.#isRare = new Uint32Array(Math.max(1, this.#rare.length >>> 5))
    this.#scopes = new ChunkScopes(capacity)
  }

  get size(): number {
    return this.#size
  }

  /** Chunks by the name of their scope. */
  get sizes(): ReadonlyMap<string, number> {
    return this.#scopes.sizes
  }

  /** Adds the chunk that a folded text is. One that is known becomes sure where it was not, and counts as used. */
  add(scopeName: string, text: FoldedText, facts: ChunkFacts): Added {
    const { length } = text
    if (length < anchorLength) return { outcome: 'too_short', chunk: -1 }
    const scope = this.#scopeOf(scopeName)
    const digest = digestWords(text, 0, length)
    const known = this.#find(scope, digest, length)
    if (known >= 0) return this.#learnMore(known, facts)
    const anchorPlace = this.#chooseAnchor(scope, text)
    if (anchorPlace < 0) return this.#refuse(scope)
    const anchor = text.anchorAt(anchorPlace)
    return this.#insert(scope, { length, digest, anchor, anchorPlace, hash: text.hashOf(0, length), ...facts })
  }

  /** Adds a chunk of which another proxy has told. */
  addRecord(scopeName: string, record: ChunkRecord): Added {
    const scope = this.#scopeOf(scopeName)
    const known = this.#find(scope, record.digest, record.length)
    if (known >= 0) return this.#learnMore(known, record)
    if (this.#countAlike(scope, record.anchor) >= mostAlike) return this.#refuse(scope)
    return this.#insert(scope, record)
  }

  /** The chunk that a folded text is; undefined: it is not known. */
  find(scopeName: string, text: FoldedText): ChunkHandle | undefined {
    const scope = this.#scopes.get(scopeName)
    if (!scope || text.length < anchorLength) return undefined
    const chunk = this.#find(scope, digestWords(text, 0, text.length), text.length)
    return chunk < 0 ? undefined : this.#columns.handleOf(chunk)
  }

  /** Forgets a chunk, if it is still the one that was meant; whether it was. */
  remove(handle: ChunkHandle): boolean {
    const isThere = this.#columns.isThere(handle)
    if (isThere) this.#delete(handle.chunk)
    return isThere
  }

  /** The chunks of a scope, those used last at the end. */
  chunksOf(scopeName: string): number[] {
    const scope = this.#scopes.get(scopeName)
    return scope ? this.#scopes.chunksOf(scope) : []
  }

  recordOf(chunk: number): ChunkRecord {
    return this.#columns.read(chunk)
  }

  /** Two words of a hash of the caller's id for a chunk; 0, 0: it has none. */
  idOf(chunk: number): readonly [number, number] {
    return this.#columns.idOf(chunk)
  }

  handleOf(chunk: number): ChunkHandle {
    return this.#columns.handleOf(chunk)
  }

  isSure(chunk: number): boolean {
    return this.#columns.isSure(chunk)
  }

  /** It is a chunk after all. */
  makeSure(handle: ChunkHandle): void {
    if (this.#columns.isThere(handle)) this.#columns.makeSure(handle.chunk)
  }

  /** White space at the ends of a chunk as it was given. */
  endsOf(chunk: number): { readonly lead: string; readonly tail: string } {
    return this.#columns.endsOf(chunk)
  }

  /** How two chunks stood to each other where they were given; undefined: they were not given by one source. */
  orderOf(from: number, to: number): GivenOrder | undefined {
    return this.#columns.orderOf(from, to)
  }

  /** The last list that a chunk was in without its neighbours in the order given; 0: none. */
  listOf(chunk: number): number {
    return this.#columns.lists[chunk]!
  }

  /** Chunks stood in one list, each without its neighbours in the order given; that is a use of them, too. */
  noteList(handles: readonly ChunkHandle[]): void {
    this.#lists = (this.#lists + 1) >>> 0 || 1
    for (const handle of handles) {
      if (!this.#columns.isThere(handle)) continue
      this.#columns.lists[handle.chunk] = this.#lists
      this.#scopes.touch(this.#scopeOfChunk(handle.chunk), handle.chunk)
    }
  }

  /**
   * All places of a text where chunks of these scopes stand, in no order; each was compared by its SHA-256. Linear in the
   * text, whatever the number of chunks.
   */
  match(text: FoldedText, scopeNames: readonly string[]): ChunkMatch[] {
    const found: ChunkMatch[] = []
    for (const name of scopeNames) {
      const scope = this.#scopes.get(name)
      if (scope) this.#match(text, scope, found)
    }
    return found
  }

  #match(text: FoldedText, { number, seed }: Scope, found: ChunkMatch[]): void {
    const isRare = this.#isRare
    const rareMask = this.#rare.length - 1
    const { starts, startCount, length } = text
    for (let i = 0; i < startCount; i++) {
      const at = starts[i]!
      if (at + anchorLength > length) break
      const anchor = text.anchorAt(at)
      const hash = mixHash(anchor, seed)
      const counter = (hash >>> 6) & rareMask
      if (!isSampled(anchor) && ((isRare[counter >>> 5]! >>> (counter & 31)) & 1) === 0) continue
      for (let slot = this.#byAnchor.next(hash, hash); slot >= 0; slot = this.#byAnchor.next(hash, slot + 1)) {
        const chunk = this.#byAnchor.at(slot)
        const isAlike = this.#columns.anchors[chunk] === anchor && this.#columns.scopes[chunk] === number
        if (isAlike) this.#verify(text, chunk, at, found)
      }
    }
  }

  #verify(text: FoldedText, chunk: number, at: number, found: ChunkMatch[]): void {
    const { anchorPlaces, lengths, hashes, digests } = this.#columns
    const start = at - anchorPlaces[chunk]!
    const length = lengths[chunk]!
    if (start < 0 || start + length > text.length || text.hashOf(start, length) !== hashes[chunk]) return
    const digest = digestWords(text, start, length)
    for (let word = 0; word < 4; word++) if (digest[word] !== digests[4 * chunk + word]) return
    found.push({ chunk, start, end: start + length })
  }

  /**
   * The first place whose anchor is sampled and that no chunk has, or the fewest, else any such place; −1: too many have
   * each. Sampled are an eighth of all anchors: the others are looked up only where a chunk may have them.
   */
  #chooseAnchor(scope: Scope, text: FoldedText): number {
    // a sign in front of all is no place to be looked up at where the text has another sign in front of it
    const from = text.beginsWithSign ? 1 : 0
    const sampled = this.#chooseAmong(scope, text, true, from)
    const chosen = sampled >= 0 ? sampled : this.#chooseAmong(scope, text, false, from)
    return chosen < 0 && from > 0 ? this.#chooseAmong(scope, text, false, 0) : chosen
  }

  #chooseAmong(scope: Scope, text: FoldedText, wantsSampled: boolean, from: number): number {
    const { starts, startCount, length } = text
    let best = -1
    let fewest = mostAlike
    let tried = 0
    for (let i = from; i < startCount && tried < mostAnchors && starts[i]! + anchorLength <= length; i++) {
      const anchor = text.anchorAt(starts[i]!)
      if (isSampled(anchor) !== wantsSampled) continue
      tried += 1
      const alike = this.#countAlike(scope, anchor)
      if (alike >= fewest) continue
      best = starts[i]!
      fewest = alike
      if (alike === 0) break
    }
    return best
  }

  #countAlike({ seed, number }: Scope, anchor: number): number {
    const hash = mixHash(anchor, seed)
    let count = 0
    for (let slot = this.#byAnchor.next(hash, hash); slot >= 0; slot = this.#byAnchor.next(hash, slot + 1)) {
      const chunk = this.#byAnchor.at(slot)
      if (this.#columns.anchors[chunk] === anchor && this.#columns.scopes[chunk] === number) count++
    }
    return count
  }

  #find(scope: Scope, digest: Int32Array, length: number): number {
    const hash = mixHash(digest[0]!, scope.seed)
    const { lengths, scopes, digests } = this.#columns
    for (let slot = this.#byDigest.next(hash, hash); slot >= 0; slot = this.#byDigest.next(hash, slot + 1)) {
      const chunk = this.#byDigest.at(slot)
      if (lengths[chunk] !== length || scopes[chunk] !== scope.number) continue
      if (digest.every((word, i) => digests[4 * chunk + i] === word)) return chunk
    }
    return -1
  }

  #refuse(scope: Scope): Added {
    this.#scopes.dropIfEmpty(scope)
    return { outcome: 'crowded', chunk: -1 }
  }

  #learnMore(chunk: number, facts: ChunkFacts): Added {
    this.#columns.learnMore(chunk, facts)
    this.#scopes.touch(this.#scopeOfChunk(chunk), chunk)
    return { outcome: 'known', chunk }
  }

  #insert(scope: Scope, record: ChunkRecord): Added {
    const chunk = this.#take(scope)
    // what made room may have been its scope's last
    this.#scopes.keep(scope)
    this.#columns.write(chunk, scope.number, record)
    this.#byAnchor.put(this.#anchorHash(chunk), chunk)
    this.#byDigest.put(this.#digestHash(chunk), chunk)
    this.#countRare(chunk, 1)
    this.#scopes.add(scope, chunk)
    this.#size += 1
    return { outcome: 'added', chunk }
  }

  #delete(chunk: number): void {
    const scope = this.#scopeOfChunk(chunk)
    this.#byAnchor.remove(chunk)
    this.#byDigest.remove(chunk)
    this.#countRare(chunk, -1)
    this.#scopes.remove(scope, chunk)
    this.#columns.erase(chunk)
    this.#free.push(chunk)
    this.#size -= 1
    this.#scopes.dropIfEmpty(scope)
  }

  /** A counter that was full once stays so: look-ups are slower for it, never wrong. */
  #countRare(chunk: number, change: number): void {
    if (isSampled(this.#columns.anchors[chunk]!)) return
    const at = (this.#anchorHash(chunk) >>> 6) & (this.#rare.length - 1)
    if (this.#rare[at] !== 255) this.#rare[at] = this.#rare[at]! + change
    const bit = 1 << (at & 31)
    this.#isRare[at >>> 5] = this.#rare[at] === 0 ? this.#isRare[at >>> 5]! & ~bit : this.#isRare[at >>> 5]! | bit
  }

  /** A place for a chunk of this scope; one that was used long ago makes room. */
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
    return this.#scopes.at(this.#columns.scopes[chunk]!)
  }

  #anchorHash(chunk: number): number {
    return mixHash(this.#columns.anchors[chunk]!, this.#scopeOfChunk(chunk).seed)
  }

  #digestHash(chunk: number): number {
    return mixHash(this.#columns.digests[4 * chunk]!, this.#scopeOfChunk(chunk).seed)
  }
}

/** Whether a text looks an anchor up in any case: an eighth of all. */
function isSampled(anchor: number): boolean {
  return Math.imul(anchor, 0x9e3779b1) >>> 29 === 0
}
