import { constants, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { open, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const pack = promisify(gzip)

/** In the folder of each part that a living proxy writes: see `dropOldestParts`. */
const liveFile = 'live'
const touchMilliseconds = 60_000

/** One part of a trace: a folder that `reprise replay` reads, with everything that its requests name. */
export class TracePart {
  readonly #live: string
  readonly #meta: string
  readonly #blocks: PartFile
  readonly #requests: PartFile
  readonly #known = new Set<string>()
  #touched: number
  #isDescribed = false

  /** Makes the part's folder, which must not exist, and its missing parents. Throws if that is not possible. */
  constructor(folder: string, now: number) {
    makeFolder(dirname(resolve(folder)))
    mkdirSync(folder, { mode: 0o700 })
    this.#live = join(folder, liveFile)
    this.#meta = join(folder, 'meta.json')
    this.#blocks = new PartFile(join(folder, 'blocks.jsonl.gz'))
    this.#requests = new PartFile(join(folder, 'queries.jsonl.gz'))
    this.#touched = now
    writeFileSync(this.#live, '', { mode: 0o600 })
    utimesSync(this.#live, now / 1_000, now / 1_000)
  }

  /** Whether the part has a block. */
  has(id: string): boolean {
    return this.#known.has(id)
  }

  /** Its size in bytes. */
  get size(): number {
    return this.#blocks.length + this.#requests.length
  }

  /** Whether more can be appended: nothing has been deleted, and both files end with a complete write. */
  get isIntact(): boolean {
    return this.#blocks.isIntact && this.#requests.isIntact
  }

  /** Appends lines. `blocks`: those that the requests name, by id. On failure, the requests are not in the part. */
  async append(requests: readonly string[], blocks: ReadonlyMap<string, string>): Promise<void> {
    // blocks first, so that truncation never leaves a request without its blocks
    await this.#blocks.append([...blocks.values()])
    for (const id of blocks.keys()) this.#known.add(id)
    await this.#requests.append(requests)
  }

  /** Writes, once, how many tokens the engine's cache holds. A part is complete without it. */
  async describe(capacityTokens: number): Promise<void> {
    if (this.#isDescribed) return
    this.#isDescribed = true
    const text = `${JSON.stringify({ capacity_tokens: capacityTokens })}\n`
    await writeFile(this.#meta, text, { mode: 0o600 }).catch(() => undefined)
  }

  /** Shows others, once a minute, that the part is still being written. */
  async touch(now: number): Promise<void> {
    if (now - this.#touched < touchMilliseconds) return
    this.#touched = now
    // if the part was deleted, the next write notices it
    await utimes(this.#live, now / 1_000, now / 1_000).catch(() => undefined)
  }

  /** Shows others that the part is no longer written. */
  async end(): Promise<void> {
    await rm(this.#live, { force: true }).catch(() => undefined)
  }
}

/** A file of gzip members, each made of whole lines. */
class PartFile {
  readonly #path: string
  /** bytes of all complete members */
  length = 0
  isIntact = true

  constructor(path: string) {
    this.#path = path
  }

  /** Appends a member. On failure, removes what was written of it; if that fails too, `isIntact` is false. */
  async append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const member = await pack(`${lines.join('\n')}\n`)
    try {
      await this.#write(member)
      this.length += member.length
    } catch (error) {
      this.isIntact = await this.#takeBack()
      throw error
    }
  }

  async #write(member: Buffer): Promise<void> {
    const { O_WRONLY, O_APPEND, O_CREAT } = constants
    const file = await open(this.#path, O_WRONLY | O_APPEND | (this.length === 0 ? O_CREAT : 0), 0o600)
    try {
      const { size } = await file.stat()
      if (size !== this.length) throw new Error(`${this.#path} was changed by others`)
      await file.appendFile(member)
    } finally {
      await file.close()
    }
  }

  async #takeBack(): Promise<boolean> {
    try {
      // never lengthens the file: if it is shorter, it is not the one that was written
      if ((await stat(this.#path)).size < this.length) return false
      await truncate(this.#path, this.length)
      return true
    } catch {
      return false
    }
  }
}

/** Makes a folder and its missing parents. Node's `recursive` hangs if the parent, such as `/proc`, allows none. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  // another proxy may make it at the same time
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

const partName = /^\d{8}T\d{9}Z-\d+$/
/**
 * A part whose `live` file is older than this is no longer written: its proxy touches the file once a minute, and
 * removes it when it ends the part. File times work across hosts and containers, which share neither process ids nor
 * locks; ten minutes allow for clocks that differ and disks that hang.
 */
const liveMilliseconds = 600_000

/**
 * Deletes the oldest parts in a folder, of whichever proxy, until the rest is small enough. Never deletes anything else,
 * nor a part that is still being written. Skips parts that others delete at the same time, or that cannot be deleted.
 */
export async function dropOldestParts(folder: string, mostBytes: number, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => partName.test(name)).toSorted(byName.compare)
  const parts = await Promise.all(names.map((name) => measure(join(folder, name), now)))
  let total = parts.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size, isLive } of parts) {
    if (total <= mostBytes) return
    if (isLive) continue
    const isGone = await rm(path, { recursive: true, force: true }).then(
      () => true,
      () => false,
    )
    if (isGone) total -= size
  }
}

async function measure(path: string, now: number): Promise<{ path: string; size: number; isLive: boolean }> {
  const files = await readdir(path).catch((): string[] => [])
  const found = await Promise.all(files.map((file) => stat(join(path, file)).catch(() => undefined)))
  const live = found[files.indexOf(liveFile)]
  return {
    path,
    size: found.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    isLive: live !== undefined && now - live.mtimeMs < liveMilliseconds,
  }
}

/** By stamp, then by count: numbers in names are compared as numbers. */
const byName = new Intl.Collator('en', { numeric: true })
