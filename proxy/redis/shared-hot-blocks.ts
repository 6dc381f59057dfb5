import type { BlockId, Context } from '#index/context-block.ts'
import {
  type HotBlock,
  type HotBlocks,
  hotBlocksCapacity,
  MemoryHotBlocks,
} from '../telemetry/hot-blocks/hot-blocks.ts'
import { isWhole, pack, unpack } from './codec/pack.ts'
import { areOfOneLog, beginning, idBehind } from './log-ids.ts'
import { hotBlocksRedisKey } from './redis-keys.ts'
import { SharedPart, type SharedPartOptions, type StreamEntry } from './shared-part.ts'

interface SharedHotBlocksOptions extends SharedPartOptions {
  readonly capacity?: number
}

const pollMilliseconds = 1_000
const version = 1
/** How often it is tried to write before another proxy does, in one turn. */
const attempts = 3

/**
 * Counts the most requested blocks of all proxies of a namespace, in a log in Redis of which only the last entry is kept.
 * Every second each proxy reads it, and adds what it has counted. They are counts for people: a write whose answer is
 * lost may count twice, and after a loss Redis gets back what the proxies that still run have counted.
 */
export class SharedHotBlocks extends SharedPart<SharedHotBlocksOptions> implements HotBlocks {
  readonly #capacity: number
  readonly #key: string
  /** all that this proxy has counted, to restore a Redis that has lost its counts */
  #own: MemoryHotBlocks
  /** what Redis does not have yet */
  #pending: MemoryHotBlocks
  /** as last read */
  #shared: readonly HotBlock[] = []
  #id = beginning
  /** the stamp of the last clearing; undefined until Redis has told it */
  #cleared: number | undefined
  #mustClear = false

  constructor(options: SharedHotBlocksOptions) {
    super(options, pollMilliseconds)
    this.#capacity = options.capacity ?? hotBlocksCapacity
    this.#key = hotBlocksRedisKey(options.namespace)
    this.#own = new MemoryHotBlocks(this.#capacity)
    this.#pending = new MemoryHotBlocks(this.#capacity)
  }

  /** load of this proxy's own counts */
  get load(): number {
    return this.#own.load
  }

  note(blocks: Context, sizes: readonly number[]): void {
    this.#own.note(blocks, sizes)
    this.#pending.note(blocks, sizes)
  }

  top(length: number): HotBlock[] {
    const sum = new Map(this.#shared.map((hot) => [hot.block, hot]))
    for (const hot of this.#pending.top(2 * this.#capacity)) {
      sum.set(hot.block, { ...hot, count: hot.count + (sum.get(hot.block)?.count ?? 0) })
    }
    return [...sum.values()].sort((a, b) => b.count - a.count).slice(0, length)
  }

  /** Clears the counts here at once, and on all other proxies at their next exchange. */
  clear(): void {
    this.#forget()
    this.#mustClear = true
    void this.share()
  }

  /** Reads the counts, and adds those that are pending. */
  protected async exchange(): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (!(await this.#read()) || (await this.#write())) return
    }
  }

  /** Returns whether Redis has answered. */
  async #read(): Promise<boolean> {
    const key = this.#key
    const [kept] = await this.options.redis.write([{ key, name: 'expire', args: [key, this.options.ttlSeconds] }])
    const entries = await this.readStream(key, this.#id, 1)
    if (!entries || !kept || 'error' in kept) return false
    const [last] = entries
    if (kept.value === 0) this.#lost(beginning)
    else if (last) this.#take(last)
    return true
  }

  #take({ id, fields: [, bytes] }: StreamEntry): void {
    const told = readTold(bytes)
    if (!told) this.options.onFault('redis_value')
    if (!told || (this.#id !== beginning && !areOfOneLog(id, this.#id))) this.#lost(id)
    this.#id = id
    if (!told) return
    const { cleared, top } = told
    // a proxy that has only begun was not there when they were cleared
    if (this.#cleared !== undefined && cleared > this.#cleared) this.#forget()
    this.#shared = this.#mustClear ? [] : top
    this.#cleared = Math.max(cleared, this.#cleared ?? 0)
  }

  /** Redis has lost the counts: each proxy adds its own again. */
  #lost(id: string): void {
    this.#shared = []
    if (this.#id === beginning) return
    this.#id = id
    this.#pending = new MemoryHotBlocks(this.#capacity)
    for (const hot of this.#own.top(2 * this.#capacity)) this.#pending.add(hot)
  }

  /** Writes what is news. Returns false if another proxy has written before. */
  async #write(): Promise<boolean> {
    const sent = this.#pending.top(2 * this.#capacity)
    if (sent.length === 0 && !this.#mustClear) return true
    const [own, top, isClearing] = [this.#own, this.top(2 * this.#capacity), this.#mustClear]
    const known = this.#cleared ?? 0
    const cleared = isClearing ? Math.max(known + 1, Date.now()) : known
    const id = idBehind(this.#id, Date.now())
    const told = pack([version, cleared, top.map(({ block, count, size }) => [block, count, size])])
    this.#pending = new MemoryHotBlocks(this.#capacity)
    this.#mustClear = false
    const appended = await this.append(this.#key, id, ['MAXLEN', 1], told)
    const isTaken = appended === 'taken' || appended === 'alone'
    if (isTaken) {
      this.#id = id
      this.#cleared = cleared
    } else this.#mustClear ||= isClearing
    // cleared here meanwhile: nothing of this counts any more
    if (own !== this.#own) return !this.#mustClear
    if (isTaken) this.#shared = top
    else for (const hot of sent) this.#pending.add(hot)
    return appended !== 'overtaken'
  }

  #forget(): void {
    this.#own = new MemoryHotBlocks(this.#capacity)
    this.#pending = new MemoryHotBlocks(this.#capacity)
    this.#shared = []
  }
}

/** Reads what an entry says: all counts, and the stamp of the last clearing, 0 if there was none. */
function readTold(bytes: Buffer | undefined): { cleared: number; top: HotBlock[] } | undefined {
  const [written, cleared, rows] = (bytes && unpack(bytes, 3)) ?? []
  if (written !== version || !isWhole(cleared, Number.MAX_SAFE_INTEGER) || !Array.isArray(rows)) return undefined
  const top = rows.map(readHotBlock)
  return top.includes(undefined) ? undefined : { cleared, top: top as HotBlock[] }
}

function readHotBlock(row: unknown): HotBlock | undefined {
  const [block, count, size] = Array.isArray(row) ? row : []
  if (typeof block !== 'string' || !/^~?[\w-]{22}$/.test(block)) return undefined
  const areCounts = [count, size].every((number) => isWhole(number, Number.MAX_SAFE_INTEGER))
  return areCounts ? { block: block as BlockId, count, size } : undefined
}
