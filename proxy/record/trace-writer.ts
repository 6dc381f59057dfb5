import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** How much is written, and where. */
export interface TraceWriterOptions {
  readonly folder: string
  /** a part is closed when it reaches this many bytes, compressed */
  readonly partBytes: number
  /** the oldest parts are deleted when all parts together reach this many */
  readonly maxBytes: number
  /** milliseconds since 1970 */
  readonly now: () => number
  /** called once when something cannot be written, and again only after writing has worked in between */
  readonly onFault: (error: unknown) => void
}

const flushMilliseconds = 1_000
/** How many characters may wait to be written if the disk does not keep up: further requests are lost, and counted. */
const mostWaiting = 8 * 1024 * 1024
const partName = /^\d{8}T\d{9}Z-\d+$/
const blocksFile = 'blocks.jsonl.gz'
const requestsFile = 'queries.jsonl.gz'
const pack = promisify(gzip)

/**
 * Writes a trace in parts, each a folder that `reprise replay` reads. Once a second, what has arrived is compressed and
 * appended, so that a crash loses a second at most. Blocks are written before the requests that name them. Nothing
 * waits for it.
 */
export class TraceWriter {
  readonly #options: TraceWriterOptions
  #part: string | undefined
  #parts = 0
  #partSize = 0
  /** blocks that are already in this part */
  #known = new Set<string>()
  #blocks: string[] = []
  #requests: string[] = []
  #waiting = 0
  #lost = 0
  #isFailing = false
  #flushing: Promise<void> = Promise.resolve()
  readonly #timer: NodeJS.Timeout

  /** Throws if the folder is not writable. */
  constructor(options: TraceWriterOptions) {
    this.#options = options
    this.#begin()
    this.#timer = setInterval(() => this.flush(), flushMilliseconds).unref()
  }

  /** Number of requests that were not written, because the disk did not keep up or failed. */
  get lost(): number {
    return this.#lost
  }

  /**
   * Adds a request. `ids`: all blocks that it names, which `blockAt` describes; those already in the part are omitted.
   */
  write(request: object, ids: readonly string[], blockAt: (at: number) => object): void {
    if (this.#waiting > mostWaiting) {
      this.#lost += 1
      return
    }
    for (const [at, id] of ids.entries()) {
      if (this.#known.has(id)) continue
      this.#known.add(id)
      this.#waiting += this.#blocks[this.#blocks.push(JSON.stringify({ id, ...blockAt(at) })) - 1]!.length
    }
    this.#waiting += this.#requests[this.#requests.push(JSON.stringify(request)) - 1]!.length
  }

  /** Writes what has arrived; resolves when it is written. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#append())
    return this.#flushing
  }

  /** Writes the rest, and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #append(): Promise<void> {
    const count = this.#requests.length
    const [blocks, requests] = this.#take()
    if (requests.length === 0) return
    const part = this.#part!
    // if this part is full, what arrives while it is written belongs to the next one
    const isFull = this.#partSize >= this.#options.partBytes
    try {
      if (isFull) this.#begin()
      for (const [name, text] of [
        [blocksFile, blocks],
        [requestsFile, requests],
      ] as const) {
        if (text.length === 0) continue
        const packed = await pack(text)
        await appendFile(join(part, name), packed, { mode: 0o600 })
        this.#partSize += isFull ? 0 : packed.length
      }
      this.#isFailing = false
    } catch (error) {
      this.#lost += count
      // write blocks again that were not written
      this.#known = new Set()
      if (!this.#isFailing) this.#options.onFault(error)
      this.#isFailing = true
    }
  }

  #take(): [string, string] {
    const lines = (all: readonly string[]): string => (all.length > 0 ? `${all.join('\n')}\n` : '')
    const taken: [string, string] = [lines(this.#blocks), lines(this.#requests)]
    this.#blocks = []
    this.#requests = []
    this.#waiting = 0
    return taken
  }

  /** Begins a new part: a folder with everything that its requests name. */
  #begin(): void {
    const { folder, maxBytes, now } = this.#options
    const stamp = new Date(now()).toISOString().replaceAll(/[-:.]/g, '')
    this.#parts += 1
    const part = join(folder, `${stamp}-${this.#parts}`)
    makeFolder(resolve(part))
    this.#part = part
    this.#partSize = 0
    this.#known = new Set()
    dropOldest(folder, maxBytes, part)
  }
}

/** Makes a folder and its missing parents. Node's own `recursive` never returns if the parent, as `/proc`, takes none. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/** Deletes the oldest parts, and only our own, until the rest is small enough. */
function dropOldest(folder: string, maxBytes: number, current: string): void {
  const parts = readdirSync(folder)
    .filter((name) => partName.test(name))
    .toSorted(comparePartNames)
    .map((name) => join(folder, name))
  const sizes = parts.map((part) => readdirSync(part).reduce((sum, file) => sum + statSync(join(part, file)).size, 0))
  let total = sizes.reduce((sum, size) => sum + size, 0)
  for (const [i, part] of parts.entries()) {
    if (total <= maxBytes || part === current) return
    rmSync(part, { recursive: true })
    total -= sizes[i]!
  }
}

function comparePartNames(a: string, b: string): number {
  const [[stampA, countA], [stampB, countB]] = [a.split('-'), b.split('-')] as [[string, string], [string, string]]
  return stampA < stampB ? -1 : stampA > stampB ? 1 : Number(countA) - Number(countB)
}
