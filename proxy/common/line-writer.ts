import { write, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** How much may wait to be written while nobody reads; further lines are dropped. */
const maxWaitingBytes = 4 * 1024 * 1024
/** About the capacity of a pipe, written at once. */
const chunkBytes = 64 * 1024
/** The minimum time between writes: a write costs more than everything else about a line. */
const gatherMilliseconds = 20
const retryMilliseconds = 50
/** How long to try writing the last lines when the process ends. */
const exitMilliseconds = 250
/** How long to wait before that for pending lines. */
const endMilliseconds = 2_000

/**
 * Writes lines to a file descriptor, in order and off the event loop. If it cannot be written to (disk full, closed, no
 * reader), lines are lost, but nothing else happens. pino's own destination retries for ever if the disk is full at
 * exit.
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

  /** Queues a line, which includes its line break. */
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

  /** Resolves when all lines are written, or after two seconds. Without it, a pending write may land after `flush`. */
  async written(): Promise<void> {
    const until = performance.now() + endMilliseconds
    while (this.#isWriting && performance.now() < until) await delay(1)
  }

  /** Writes the waiting lines synchronously, for at most a quarter of a second. For the end of the process. */
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
      // a failed chunk is lost; there may be room again for the next lines
      else if (error || written === chunk.length) this.#writeNext()
      else this.#writeChunk(chunk.subarray(written))
    })
  }

  /** Removes whole lines of about the given number of bytes from the queue, and returns them. */
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
