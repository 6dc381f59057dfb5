import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { dropOldestParts, TracePart } from './trace-part.ts'

const usualPartBytes = 64 * 1024 * 1024
const usualBytes = 1024 * 1024 * 1024

/** How much is written, and where. */
export interface TraceWriterOptions {
  readonly folder: string
  /** a part is closed when it reaches this many bytes, compressed; by default 64 MiB */
  readonly partBytes?: number
  /** the oldest parts are deleted when all parts together reach this many; by default 1 GiB */
  readonly mostBytes?: number
  /** milliseconds since 1970 */
  readonly now: () => number
  /** how many tokens the engine's cache holds; undefined: not known, or not yet */
  readonly capacityTokens: () => number | undefined
  /** called with the number of requests that were written */
  readonly onWritten: (requests: number) => void
  /** called with the number of requests that were not, because the disk did not keep up or failed */
  readonly onLost: (requests: number) => void
  /** called once when something cannot be written, and again only after writing has worked in between */
  readonly onFault: (error: unknown) => void
}

/** A piece of a prompt, as a line of `blocks.jsonl`. */
export interface BlockLine {
  readonly id: string
  readonly text?: string
  readonly tokens?: number
  /** in addition to `tokens` */
  readonly characters?: number
  /** its stretches, in order: the digest of each, and its length in characters; undefined: it is a single stretch */
  readonly stretches?: readonly (readonly [digest: string, characters: number])[] | undefined
}

const flushMilliseconds = 1_000
/** How many characters may wait to be written if the disk does not keep up: further requests are lost, and counted. */
const mostWaiting = 8 * 1024 * 1024

/**
 * Writes a trace in parts, each a folder that `reprise replay` reads. Once a second, what has arrived is compressed and
 * appended, so that a crash loses a second at most. Whatever happens to the disk or to a part, only what arrives in the
 * meantime is lost. Nothing waits for it.
 */
export class TraceWriter {
  readonly #options: TraceWriterOptions
  #part: TracePart
  #batch = new Batch()
  #isFailing = false
  #flushing: Promise<void>
  readonly #timer: NodeJS.Timeout

  /** Throws if the folder is not writable. */
  constructor(options: TraceWriterOptions) {
    this.#options = options
    this.#part = beginPart(options)
    this.#flushing = this.#dropOldest()
    this.#timer = setInterval(() => this.flush(), flushMilliseconds).unref()
  }

  /** Adds a request, given as a line of JSON, with all blocks that it names; those already in the part are omitted. */
  write(request: string, blocks: readonly BlockLine[]): void {
    if (this.#batch.size > mostWaiting) {
      this.#options.onLost(1)
      return
    }
    this.#batch.add(request, blocks, this.#part)
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
    await this.#part.end()
  }

  async #append(): Promise<void> {
    const { now, onWritten, onLost, onFault } = this.#options
    const batch = this.#batch
    this.#batch = new Batch()
    await this.#part.touch(now())
    if (batch.requests.length === 0) return
    try {
      await this.#store(batch)
      onWritten(batch.requests.length)
      this.#isFailing = false
    } catch (error) {
      onLost(batch.requests.length)
      if (!this.#isFailing) onFault(error)
      this.#isFailing = true
    }
  }

  async #store(batch: Batch): Promise<void> {
    const { partBytes = usualPartBytes, capacityTokens } = this.#options
    if (!this.#part.isIntact || this.#part.size >= partBytes) await this.#beginNext()
    try {
      await this.#part.append(batch.requests, batch.missingIn(this.#part))
    } catch (error) {
      // an intact part means that the disk is at fault, and a new part would not help
      if (this.#part.isIntact) throw error
      await this.#beginNext()
      await this.#part.append(batch.requests, batch.missingIn(this.#part))
    }
    const tokens = capacityTokens()
    if (tokens !== undefined) await this.#part.describe(tokens)
  }

  async #beginNext(): Promise<void> {
    const next = beginPart(this.#options)
    await this.#part.end()
    this.#part = next
    await this.#dropOldest()
  }

  /** Never rejects: if the folder cannot be listed any more, the next write to it fails. */
  #dropOldest(): Promise<void> {
    const { folder, mostBytes = usualBytes, now } = this.#options
    return dropOldestParts(folder, mostBytes, now()).catch(() => undefined)
  }
}

/** Requests that wait to be written, with everything that they name. */
class Batch {
  readonly requests: string[] = []
  /** blocks that the part already has are needed only if it was deleted, so they become lines only then */
  readonly #blocks = new Map<string, string | BlockLine>()
  /** in characters */
  size = 0

  add(request: string, blocks: readonly BlockLine[], part: TracePart): void {
    this.requests.push(request)
    this.size += request.length
    for (const block of blocks) {
      if (this.#blocks.has(block.id)) continue
      this.#blocks.set(block.id, part.has(block.id) ? block : JSON.stringify(block))
      this.size += block.id.length + (block.text?.length ?? 0)
    }
  }

  /** Returns the lines of the blocks that a part does not have, by id. */
  missingIn(part: TracePart): Map<string, string> {
    const missing = new Map<string, string>()
    for (const [id, block] of this.#blocks) {
      if (!part.has(id)) missing.set(id, typeof block === 'string' ? block : JSON.stringify(block))
    }
    return missing
  }
}

/** Begins a part with a name that no other has, not even of another proxy. */
function beginPart({ folder, now }: TraceWriterOptions): TracePart {
  const begun = now()
  const stamp = new Date(begun).toISOString().replaceAll(/[-:.]/g, '')
  for (let number = 1; ; number++) {
    const part = join(folder, `${stamp}-${number}`)
    try {
      return new TracePart(part, begun)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !existsSync(part)) throw error
    }
  }
}
