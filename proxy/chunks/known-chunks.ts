import { hash } from 'node:crypto'
import { inSlices } from '../http/bounds/event-loop.ts'
import type { ChunkHandle } from '../prompt/certain-list.ts'
import { ChunkLearner, type ChunkSink, endsOf, type LearnerOptions, type Lesson } from './chunk-learner.ts'
import { findKnownLists, type KnownLists } from './find-known-lists.ts'
import type { ChunkInputs } from './read-chunk-inputs.ts'
import { type ChunkFacts, type ChunkRecord, chunkFlags } from './table/chunk-record.ts'
import { type Added, ChunkTable } from './table/chunk-table.ts'
import { FoldedText, longestText } from './table/folded-text.ts'

/** A chunk that an operator registers. */
export interface GivenChunk {
  readonly id?: string | undefined
  readonly text: string
}

/** The outcomes of registering chunks; each chunk is counted once. */
export interface PutReport {
  added: number
  known: number
  too_short: number
  crowded: number
}

/** Which chunks to forget: all, if none are named. */
interface ForgottenChunks {
  readonly ids?: readonly string[] | undefined
  readonly texts?: readonly string[] | undefined
}

/** Is notified of every change, to report it to other proxies. */
export interface ChunkListener {
  learned(scope: string, record: ChunkRecord): void
  /** digests of chunks that were forgotten; undefined: all of the scope */
  forgotten(scope: string, digests: readonly Int32Array[] | undefined): void
}

interface KnownChunksOptions extends Omit<LearnerOptions, 'sink' | 'onLearned'> {
  readonly maxChunks: number
  readonly onLearned?: (kind: ChunkInputs['kind'] | 'registered', count: number) => void
}

/** The scope of chunks that an operator registered for everyone. */
const everyone = '*'

/**
 * The chunks with known borders: registered, or seen as inputs of embeddings and reranks. A tenant sees what it sent
 * itself, and what an operator registered for it or for everyone.
 */
export class KnownChunks implements ChunkSink {
  readonly #options: KnownChunksOptions
  readonly #learner: ChunkLearner
  readonly #folded = new FoldedText()
  #table: ChunkTable | undefined
  #listener: ChunkListener | undefined
  #order = 1

  constructor(options: KnownChunksOptions) {
    this.#options = options
    this.#learner = new ChunkLearner({ ...options, sink: this })
  }

  /** How many chunks are known. */
  get size(): number {
    return this.#table?.size ?? 0
  }

  get capacity(): number {
    return this.#options.maxChunks
  }

  /**
   * Returns how many chunks are registered for everyone and for each tenant, and how many were learned from all tenants
   * together.
   */
  sizes(): { everyone: number; tenants: Record<string, number>; learned: number } {
    const tenants: Record<string, number> = {}
    let learned = 0
    const sizes = this.#table?.sizes ?? new Map<string, number>()
    for (const [scope, size] of sizes) {
      if (scope.startsWith('@')) tenants[scope.slice(1)] = size
      else if (scope !== everyone) learned += size
    }
    return { everyone: sizes.get(everyone) ?? 0, tenants, learned }
  }

  listen(listener: ChunkListener): void {
    this.#listener = listener
  }

  /** Returns a function that finds the lists of chunks in this tenant's texts; undefined if no chunk was ever known. */
  finderFor(tenant: string): ((text: string) => KnownLists) | undefined {
    const table = this.#table
    if (!table) return undefined
    const scopes = scopesOf(tenant)
    return (text) => findKnownLists(text, table, scopes, this.#folded)
  }

  /** Begins a request of a tenant that may contain chunks. */
  begin(tenant: string): Lesson {
    return this.#learner.begin(learnedScope(tenant))
  }

  /** Notes that a request with a prompt begins; call the returned function at its end. */
  prompted(tenant: string): () => void {
    return this.#learner.prompted(learnedScope(tenant))
  }

  /** Registers chunks, for one tenant or for everyone; other requests are served meanwhile. */
  async put(chunks: readonly GivenChunk[], tenant: string | undefined): Promise<PutReport> {
    const report: PutReport = { added: 0, known: 0, too_short: 0, crowded: 0 }
    const exportOrder = this.#order
    let order = exportOrder
    // reserve adjacent places for the batch, whatever else comes meanwhile
    this.#order += chunks.length
    await inSlices(chunks, ({ id, text }) => {
      const { outcome } = this.add(registeredScope(tenant), text, {
        flags: chunkFlags.sure,
        source: this.#options.source,
        order: order++,
        exportOrder,
        id: id === undefined ? [0, 0] : idWords(id),
        ...endsOf(text),
      })
      report[outcome] += 1
    })
    this.#options.onLearned?.('registered', report.added)
    return report
  }

  /** Forgets registered chunks of a tenant or of everyone; returns how many. */
  forget(tenant: string | undefined, { ids, texts }: ForgottenChunks = {}): number {
    const scope = registeredScope(tenant)
    if (ids === undefined && texts === undefined) return this.#forgetAll(scope)
    const table = this.#table
    if (!table) return 0
    const wanted = new Set((ids ?? []).map((id) => idWords(id).join(':')))
    const byId =
      wanted.size === 0 ? [] : table.chunksOf(scope).filter((chunk) => wanted.has(table.columns.idOf(chunk).join(':')))
    const byText = (texts ?? []).flatMap((text) => table.find(scope, this.fold(text)) ?? [])
    return this.#forget(scope, [...byId.map((chunk) => table.columns.handleOf(chunk)), ...byText])
  }

  /** Forgets everything, learned chunks too; returns how many there were. */
  clear(): number {
    const scopes = [...(this.#table?.sizes.keys() ?? [])]
    return scopes.reduce((sum, scope) => sum + this.#forgetAll(scope), 0)
  }

  /** Notes that these chunks are in lists that are sent with a question. */
  noteLists(lists: readonly (readonly ChunkHandle[])[], question: string): void {
    for (const handles of lists) if (handles.length > 0) this.#note(handles, question, true)
  }

  /** Adds a chunk that another proxy reported, without notifying the listener. */
  adopt(scope: string, record: ChunkRecord): void {
    if (this.capacity > 0) this.#tableOf().addRecord(scope, record)
  }

  /** Forgets what another proxy has forgotten. */
  adoptForgotten(scope: string, digests: readonly Int32Array[] | undefined): void {
    const table = this.#table
    if (!table) return
    const chunks = table.chunksOf(scope)
    const wanted = digests && new Set(digests.map((digest) => digest.join(':')))
    for (const chunk of chunks) {
      if (!wanted || wanted.has(table.columns.read(chunk).digest.join(':'))) table.remove(table.columns.handleOf(chunk))
    }
  }

  /** Yields all that is known, in the form that `learned` reports it. */
  *records(): Generator<[scope: string, record: ChunkRecord]> {
    const table = this.#table
    for (const scope of table?.sizes.keys() ?? []) {
      for (const chunk of table!.chunksOf(scope)) yield [scope, table!.columns.read(chunk)]
    }
  }

  add(scope: string, text: string, facts: ChunkFacts): Added {
    if (this.capacity === 0 || text.length > longestText) return { outcome: 'crowded', chunk: -1 }
    const table = this.#tableOf()
    const added = table.add(scope, this.fold(text), facts)
    // what was reranked is told with the list it was in
    const isTold = added.outcome === 'added' && facts.source !== 0
    if (isTold) this.#listener?.learned(scope, table.columns.read(added.chunk))
    return added
  }

  handleOf(chunk: number): ChunkHandle {
    return this.#tableOf().columns.handleOf(chunk)
  }

  makeSure(scope: string, handle: ChunkHandle): void {
    const { columns } = this.#tableOf()
    if (!columns.isThere(handle) || columns.isSure(handle.chunk)) return
    columns.makeSure(handle.chunk)
    this.#listener?.learned(scope, columns.read(handle.chunk))
  }

  noteCandidates(handles: readonly ChunkHandle[], question: string): void {
    this.#note(handles, question, false)
  }

  forgetUnsure(scope: string, text: string): void {
    const table = this.#table
    const found = table?.find(scope, this.fold(text))
    if (table && found && !table.columns.isSure(found.chunk)) this.#forget(scope, [found])
  }

  fold(text: string): FoldedText {
    this.#folded.read(text)
    return this.#folded
  }

  #note(handles: readonly ChunkHandle[], question: string, areSure: boolean): void {
    const table = this.#table
    if (!table) return
    const asked = hash('sha256', question.trim(), 'buffer').readInt32LE()
    for (const chunk of table.noteList(handles, asked, areSure)) {
      this.#listener?.learned(table.scopeOf(chunk), table.columns.read(chunk))
    }
  }

  #forgetAll(scope: string): number {
    const count = this.#table?.sizes.get(scope) ?? 0
    if (count === 0) return 0
    this.adoptForgotten(scope, undefined)
    this.#listener?.forgotten(scope, undefined)
    return count
  }

  #forget(scope: string, handles: readonly ChunkHandle[]): number {
    const table = this.#table!
    const digests = handles.map(({ chunk }) => table.columns.read(chunk).digest)
    const gone = handles.filter((handle) => table.remove(handle))
    if (gone.length > 0) this.#listener?.forgotten(scope, digests)
    return gone.length
  }

  /** Creates the table, and takes its memory, with the first chunk. */
  #tableOf(): ChunkTable {
    this.#table ??= new ChunkTable(this.capacity)
    return this.#table
  }
}

function registeredScope(tenant: string | undefined): string {
  return tenant === undefined ? everyone : `@${tenant}`
}

function learnedScope(tenant: string): string {
  return `=${tenant}`
}

/**
 * Returns the scopes in which a tenant's texts are looked up. What is registered for `acme` is for every tenant of that
 * name, whether named by a key or by a header.
 */
function scopesOf(tenant: string): string[] {
  const [, bare] = /^(?:key|header):(.*)$/s.exec(tenant) ?? []
  return [
    everyone,
    learnedScope(tenant),
    registeredScope(tenant),
    ...(bare === undefined ? [] : [registeredScope(bare)]),
  ]
}

function idWords(id: string): readonly [number, number] {
  const digest = hash('sha256', id, 'buffer')
  return [digest.readInt32LE(0), digest.readInt32LE(4) || 1]
}
