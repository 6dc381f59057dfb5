import { write, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Logger, pino } from 'pino'

export type Log = Logger

/** One writer for stderr, shared by all logs. */
let stderr: LineWriter | undefined

/** Creates a log of JSON lines on stderr, never with any text of a prompt. */
export function createLog(level: string): Log {
  stderr ??= openStderr()
  return pino({ level, base: null, serializers: { error: describeError } }, stderr)
}

/** Resolves when everything logged so far is written, if it can be written at all. */
export async function logWritten(): Promise<void> {
  await stderr?.written()
}

function openStderr(): LineWriter {
  const writer = new LineWriter(2)
  // this first access makes Node set a pipe to non-blocking; errors of other writers must not end the process
  process.stderr.on('error', () => {})
  process.on('exit', () => writer.flush())
  return writer
}

interface DescribedError {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly at: readonly string[]
  readonly cause?: DescribedError
}

const deepestCause = 4

/** Describes an error for the log. Omits the message of a syntax error, which quotes the text it could not parse. */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, at: [] }
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error instanceof SyntaxError ? {} : { message: error.message }),
    at: stackOf(error),
    ...(cause instanceof Error && depth < deepestCause ? { cause: describeError(cause, depth + 1) } : {}),
  }
}

/** Returns only the frames: a stack starts with the message, which may have several lines. */
function stackOf({ stack = '' }: Error): string[] {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at .+:\d+:\d+\)?$/.test(line))
    .map((line) => line.slice(7))
}

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
