import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { lengthOf, type UnknownText } from './seen-lists.ts'
import type { Learnt } from './template-learner.ts'
import { keysOf } from './text-keys.ts'

/** What waits for the thread, in texts and in UTF-16 units; more is not taken. */
const most = { texts: 16, characters: 2_000_000, restarts: 3 } as const
/** A try takes a second or two; one that takes so long never ends. */
const longestTryMilliseconds = 60_000

interface ThreadEvents {
  onLearnt: (learnt: Learnt) => void
  /** The thread was lost, with what it knew; it is started again a few times. */
  onFault: (cause: unknown) => void
}

/** Learns templates off the path of requests. Never throws; texts that it has no time for are left out. */
export class LearnerThread {
  readonly #events: ThreadEvents
  readonly #offered = new OfferedTexts()
  #worker: Worker | undefined
  #texts = 0
  #characters = 0
  #starts = 0
  #closed = false
  /** ends a thread that answers nothing */
  readonly #watch = setTimeout(() => {
    if (this.#texts > 0) void this.#worker?.terminate()
  }, longestTryMilliseconds).unref()

  constructor(events: ThreadEvents) {
    this.#events = events
  }

  /** Offers a text in which nothing was found. Returns whether it was taken: the first one starts the thread. `place` says where it stands, as in `keysOf`. */
  offer(place: string, unknown: UnknownText): boolean {
    const [{ text }, length] = [unknown, lengthOf(unknown)]
    if (this.#closed || this.#texts >= most.texts || this.#characters + length > most.characters) return false
    if (!this.#offered.isDue(place, text)) return false
    this.#worker ??= this.#start()
    if (this.#worker === undefined) return false
    if (this.#texts++ === 0) this.#watch.refresh()
    this.#characters += length
    this.#worker.postMessage({ place, unknown })
    return true
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#watch)
    await this.#worker?.terminate()
  }

  #start(): Worker | undefined {
    if (this.#starts++ > most.restarts) return undefined
    const worker = new Worker(new URL(workerFile(), import.meta.url), {
      // inherits nothing the product was started with: neither its loader nor its secrets
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    let fault: unknown
    worker.on('message', ({ length, learnt }: { length: number; learnt: Learnt | undefined }) => {
      this.#texts--
      this.#characters -= length
      this.#watch.refresh()
      if (learnt === undefined || this.#closed) return
      this.#offered.forget()
      this.#events.onLearnt(learnt)
    })
    worker.on('error', (cause) => {
      fault = cause
    })
    worker.on('exit', () => {
      this.#worker = undefined
      this.#texts = this.#characters = 0
      if (!this.#closed) this.#events.onFault(fault)
    })
    // last: adding a message listener would keep the process alive again
    worker.unref()
    return worker
  }
}

function workerFile(): string {
  const extension = extname(import.meta.url)
  const { typescript } = process.features as { readonly typescript?: unknown }
  return extension === '.ts' && !typescript ? './load-learner-worker.mjs' : `./learner-worker${extension}`
}

const mostKeys = 1_024

/**
 * Backs off from texts that begin alike and never become a template: takes all of the first 64, then one in eight, and
 * one in 64 after 512.
 */
export class OfferedTexts {
  /** Texts that begin alike. */
  readonly #counts = new LRUCache<string, number>({ max: mostKeys })

  /** Whether this text is worth learning from. */
  isDue(place: string, text: string): boolean {
    const key = keysOf(place, text)[1]!
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count % (count <= 64 ? 1 : count <= 512 ? 8 : 64) === 0
  }

  /** Begins anew: a template was learnt, and what it refuses is to be learnt from again. */
  forget(): void {
    this.#counts.clear()
  }
}
