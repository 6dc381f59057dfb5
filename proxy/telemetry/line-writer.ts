import { write, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** What waits to be written while nobody reads; lines beyond it are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024
/** About as much as a pipe holds goes out at once. */
const chunkBytes = 64 * 1024
/** No more often is written: each write costs more than all else about a line. */
const gatherMilliseconds = 20
const retryMilliseconds = 50
/** How long the last lines are tried to be written when the process ends. */
const exitMilliseconds = 250
/** How long is waited before that for lines under way. */
const endMilliseconds = 2_000

/**
 * Writes lines to a file descriptor, in order and off the event loop. One that cannot be written to (full, closed, read
 * by nobody) costs lines and nothing else. pino's own destination tries for ever when the disk is full at the end.
 */
export class LineWriter {
  readonly #fd: number
  readonly #lines: Buffer[] = []
  #waitingBytes = 0
  #isWriting = false
  #lastWrite = Number.NEGATIVE_INFINITY

  constructor(fd: number) {
    this.#fd = fd
  }

  /** Takes a line with its line break. */
  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#waitingBytes + bytes.length > maxWaitingBytes) return
    this.#lines.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#isWriting) return
    this.#isWriting = true
    const wait = this.#lastWrite + gatherMilliseconds - performance.now()
    if (wait <= 0) this.#writeNext()
    else setTimeout(() => this.#writeNext(), wait).unref()
  }

  /** Resolves when all lines are written, or after two seconds: what is under way at the end may come behind the rest. */
  async written(): Promise<void> {
    const until = performance.now() + endMilliseconds
    while (this.#isWriting && performance.now() < until) await delay(1)
  }

  /** Writes what waits, as far as it can be written within a quarter of a second; for the end of the process. */
  flush(): void {
    const until = performance.now() + exitMilliseconds
    let rest = this.#take(Number.POSITIVE_INFINITY)
    while (rest.length > 0 && performance.now() < until) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest))
      } catch (error) {
        if (!isBusy(error)) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      }
    }
  }

  #writeNext(): void {
    const chunk = this.#take(chunkBytes)
    this.#isWriting = chunk.length > 0
    if (this.#isWriting) this.#writeChunk(chunk)
  }

  #writeChunk(chunk: Buffer): void {
    this.#lastWrite = performance.now()
    write(this.#fd, chunk, (error, written) => {
      if (error && isBusy(error)) setTimeout(() => this.#writeChunk(chunk), retryMilliseconds).unref()
      // what failed is lost: the next lines may find room again
      else if (error || written === chunk.length) this.#writeNext()
      else this.#writeChunk(chunk.subarray(written))
    })
  }

  /** Takes whole lines of about so many bytes from those that wait. */
  #take(bytes: number): Buffer {
    let count = 0
    let size = 0
    while (count < this.#lines.length && size < bytes) size += this.#lines[count++]!.length
    this.#waitingBytes -= size
    return Buffer.concat(this.#lines.splice(0, count))
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EAGAIN' || code === 'EBUSY'
}
