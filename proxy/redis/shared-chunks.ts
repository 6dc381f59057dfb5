import type { ChunkListener, KnownChunks } from '../chunks/known-chunks.ts'
import type { ChunkRecord } from '../chunks/table/chunk-record.ts'
import { TimeSlices } from '../http/bounds/event-loop.ts'
import { type ChunkEntry, readChunkEntry, writeChunkEntry } from './codec/chunk-entry.ts'
import type { RedisCommand } from './connection/redis-command.ts'
import { chunksRedisKey } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions, type StreamEntry } from './shared-part.ts'

interface SharedChunksOptions extends SharedPartOptions {
  readonly chunks: KnownChunks
  /** unique id of this run of this proxy */
  readonly proxy: string
  /** milliseconds since 1970 */
  readonly wallClock: () => number
}

const pollMilliseconds = 100
/** Entries per read, and chunks per entry. */
const readAtOnce = 64
const chunksPerEntry = 512
/** If more chunks wait than this, everything known is written instead. */
const mostWaiting = 100_000

/**
 * Shares known chunks through Redis: a feed to which each proxy adds what it learns and forgets, and which every proxy
 * reads from the start. An entry lives for `ttlSeconds`; before that, the first proxy to notice writes everything it
 * knows again. No request waits for it: requests see what has arrived so far.
 */
export class SharedChunks extends SharedPart<SharedChunksOptions> implements ChunkListener {
  readonly #key: string
  #waiting: ChunkEntry[] = []
  #count = 0
  /** everything known has to be written */
  #tellsAll = false
  #toldAt: number
  #seen = '0-0'

  constructor(options: SharedChunksOptions) {
    super(options, pollMilliseconds)
    this.#key = chunksRedisKey(options.namespace)
    this.#toldAt = options.wallClock()
    options.chunks.listen(this)
    options.redis.listen({
      onUp: () => {},
      onLost: () => {
        // it may be another Redis, whose feed has not been read
        this.#seen = '0-0'
        this.#tellsAll ||= options.chunks.size > 0
      },
    })
  }

  learned(scope: string, record: ChunkRecord): void {
    const last = this.#waiting.at(-1)
    if (last?.kind === 'learned' && last.scope === scope && last.records.length < chunksPerEntry) {
      ;(last.records as ChunkRecord[]).push(record)
    } else this.#waiting.push({ kind: 'learned', scope, records: [record] })
    this.#count += 1
    if (this.#count <= mostWaiting) return
    this.#dropLearned()
    this.#tellsAll = true
  }

  forgotten(scope: string, digests: readonly Int32Array[] | undefined): void {
    this.#waiting.push({ kind: 'forgotten', scope, digests })
  }

  protected async exchange(): Promise<void> {
    await this.#hear()
    const { ttlSeconds, wallClock } = this.options
    if (wallClock() - this.#toldAt > (ttlSeconds * 1000) / 2) this.#tellsAll = true
    if (this.#tellsAll) await this.#tellAll()
    else await this.#tell()
  }

  async #hear(): Promise<void> {
    let entries: StreamEntry[]
    do {
      entries = (await this.readStream(this.#key, this.#seen, readAtOnce)) ?? []
      await TimeSlices.each(entries, ({ id, fields: [proxy, data] }) => {
        this.#seen = id
        const entry = data && readChunkEntry(data)
        if (entry === undefined) this.options.onFault('redis_value')
        else if (proxy!.toString() !== this.options.proxy) this.#adopt(entry)
      })
    } while (entries.length === readAtOnce)
  }

  #adopt(entry: ChunkEntry): void {
    const { chunks, wallClock } = this.options
    if (entry.kind === 'forgotten') {
      chunks.adoptForgotten(entry.scope, entry.digests)
      return
    }
    // another proxy has written everything
    if (entry.kind === 'repeated') this.#toldAt = wallClock()
    for (const record of entry.records) chunks.adopt(entry.scope, record)
  }

  async #tell(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, readAtOnce)
      if (await this.#write(batch)) continue
      this.#waiting.unshift(...batch)
      return
    }
    this.#count = 0
  }

  async #tellAll(): Promise<void> {
    this.#dropLearned()
    await this.#tell()
    let records: ChunkRecord[] = []
    let scope: string | undefined
    const flush = async (): Promise<boolean> => {
      const own = records
      records = []
      return own.length === 0 || scope === undefined || this.#write([{ kind: 'repeated', scope, records: own }])
    }
    for (const [own, record] of this.options.chunks.records()) {
      if (own !== scope || records.length === chunksPerEntry) {
        if (!(await flush())) return
        scope = own
      }
      records.push(record)
    }
    if (!(await flush())) return
    this.#tellsAll = false
    this.#toldAt = this.options.wallClock()
  }

  /** Writes entries. Returns whether Redis accepted them. */
  #write(entries: readonly ChunkEntry[]): Promise<boolean> {
    const { proxy, ttlSeconds, wallClock } = this.options
    const oldest = Math.max(0, Math.floor(wallClock() - ttlSeconds * 1000))
    const commands = entries.map((entry): RedisCommand => {
      const args = [this.#key, 'MINID', '~', oldest, '*', proxy, writeChunkEntry(entry)]
      return { key: this.#key, name: 'xadd', args }
    })
    commands.push({ key: this.#key, name: 'expire', args: [this.#key, ttlSeconds] })
    return this.put(commands)
  }

  /** Drops waiting chunks, which are among the known ones; the forgotten ones are not. */
  #dropLearned(): void {
    this.#waiting = this.#waiting.filter(({ kind }) => kind === 'forgotten')
    this.#count = 0
  }
}
