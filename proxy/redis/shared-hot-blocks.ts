import { setImmediate as afterIo, setTimeout as pause } from 'node:timers/promises'
import type { Context } from '#index/context-block.ts'
import { type HotBlock, type HotBlocks, hotBlocksCapacity } from '../telemetry/hot-blocks.ts'
import { type HotBlocksAnswer, readHotBlocksAnswer, toScore } from './hot-blocks-answer.ts'
import { HotBlocksLedger } from './hot-blocks-ledger.ts'
import { countHotBlocks } from './hot-blocks-script.ts'
import { evalBytesCommand, type RedisCommand, type RedisReply } from './redis-command.ts'
import type { RedisAccess } from './redis-connection.ts'
import { isNoAnswer, isToBeRepeated } from './redis-errors.ts'
import { hotBlocksRedisKeys } from './redis-keys.ts'

export interface SharedHotBlocksOptions {
  readonly redis: RedisAccess
  readonly namespace: string
  readonly ttlSeconds: number
  /** names this proxy's life, apart from all others */
  readonly proxy: string
  /** counts what Redis held and could not be relied on, or did not take */
  readonly onFault: (reason: 'redis_value' | 'redis_write') => void
  readonly capacity?: number
  readonly pollMilliseconds?: number
}

/** What a command is to do, and how many blocks it answers. */
type Task = readonly [task: 'add' | 'raise' | 'clear', blocks: readonly HotBlock[], length?: number]

const defaultPollMilliseconds = 1_000
const retryMilliseconds = 50
/** Blocks in one step of Redis, which all others wait for: about half a millisecond. */
const blocksPerCommand = 128
/** So many are written before requests go on. */
const commandsPerPipeline = 4
/** Blocks of other proxies that are known here. */
const blocksPerAnswer = 512
const roundsPerExchange = 4

/**
 * Counts the blocks asked for most of all proxies of a namespace, through Redis: every second what was counted here is
 * added there, and the hottest of all come back. No count is too high. As long as Redis answers and loses nothing, none
 * is too low by more than a share of 1 / capacity of all that was asked for. What it lost is raised again to what each
 * proxy counted itself and saw last, the highest of these and not their sum. So is what was under way when an answer was
 * lost, for it may have been counted: of that, part may be missing, and nothing counts twice.
 */
export class SharedHotBlocks implements HotBlocks {
  readonly #options: SharedHotBlocksOptions
  readonly #ledger: HotBlocksLedger
  readonly #closing = new AbortController()
  /** how often all was forgotten, and which life of the counts in Redis this proxy writes to */
  #epoch = -1
  #life = ''
  #writers = 0
  #commands = 0
  /** the command that Redis must have heard of; 0 when that is not known */
  #heard = 0
  #mustClear = false
  /** Redis may have lost something, or not have taken it */
  #mustRaise = false
  #exchanging: Promise<void> | undefined

  constructor(options: SharedHotBlocksOptions) {
    this.#options = options
    this.#ledger = new HotBlocksLedger(options.capacity ?? hotBlocksCapacity)
    options.redis.listen({
      onUp: () => {},
      onLost: () => {
        this.#mustRaise = true
      },
    })
  }

  /** of this proxy's own counts */
  get load(): number {
    return this.#ledger.load
  }

  note(blocks: Context, sizes: readonly number[]): void {
    this.#ledger.note(blocks, sizes)
  }

  top(length: number): HotBlock[] {
    return this.#ledger.top(length)
  }

  /** Starts anew, and has all proxies do so once they hear of it. */
  clear(): void {
    this.#ledger.clear()
    this.#mustClear = true
    if (this.#options.redis.isUp) void this.exchange()
  }

  /** Begins to exchange counts with Redis. */
  start(): void {
    void this.#keepExchanging()
  }

  /** Writes no more after what can be written in so many milliseconds. */
  async close(milliseconds: number): Promise<void> {
    this.#closing.abort()
    const ending = new AbortController()
    const { signal } = ending
    await Promise.race([this.#writeRest(signal), pause(milliseconds, undefined, { signal }).catch(() => {})])
    ending.abort()
  }

  /** Writes what is to be written and reads what others wrote; never rejects. */
  exchange(): Promise<void> {
    this.#exchanging ??= this.#exchange()
      // a fault of ours: memory goes on without
      .catch(() => this.#options.onFault('redis_value'))
      .finally(() => {
        this.#exchanging = undefined
      })
    return this.#exchanging
  }

  async #keepExchanging(): Promise<void> {
    const { signal } = this.#closing
    const { redis, pollMilliseconds = defaultPollMilliseconds } = this.#options
    while (!signal.aborted) {
      if (redis.isUp) await this.exchange()
      await pause(pollMilliseconds, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #writeRest(signal: AbortSignal): Promise<void> {
    await this.#exchanging
    while (!signal.aborted && this.#options.redis.isUp && this.#hasRest) {
      await this.exchange()
      if (this.#hasRest) await pause(retryMilliseconds, undefined, { signal }).catch(() => {})
    }
  }

  get #hasRest(): boolean {
    return this.#ledger.hasPending || this.#mustRaise || this.#mustClear
  }

  async #exchange(): Promise<void> {
    let isInStep = false
    for (let round = 0; !isInStep && round < roundsPerExchange; round++) {
      isInStep = this.#mustClear ? await this.#clearAll() : await this.#writeBatch()
    }
  }

  /** Whether nothing is left to be done at once. */
  async #writeBatch(): Promise<boolean> {
    const batch = this.#ledger.take(this.#mustRaise)
    this.#mustRaise = false
    const replies = await this.#write([
      ...inParts(batch.raised, blocksPerCommand).map((blocks) => ['raise', blocks] as const),
      ...inParts(batch.added, blocksPerCommand).map((blocks) => ['add', blocks] as const),
      ['add', [], blocksPerAnswer],
    ])
    const answers = replies.map((reply) => this.#understand(reply))
    const last = answers.at(-1)
    if (last && answers.every((answer) => answer?.status === 'done')) {
      this.#ledger.settle(batch, last.top)
      // all may have been cleared meanwhile
      return (await this.#sweep(last.strange)) && !this.#mustClear
    }
    // what is neither settled nor given back is raised: it may have been added
    if (replies.every((reply, i) => isUntouched(reply, answers[i]))) this.#ledger.giveBack(batch)
    this.#mustRaise = true
    this.#heard = 0
    return !this.#follow(answers)
  }

  async #write(tasks: readonly Task[]): Promise<RedisReply[]> {
    const replies: RedisReply[] = []
    for (const some of inParts(tasks, commandsPerPipeline)) {
      // whatever is under way, requests first of all, goes before
      await afterIo()
      replies.push(...(await this.#options.redis.write(some.map((task) => this.#toCommand(...task)))))
    }
    return replies
  }

  /** Whether there was nothing that does not belong there, and may stand in front of what does. */
  async #sweep(strange: readonly Buffer[]): Promise<boolean> {
    if (strange.length === 0) return true
    // one of them may have been a block
    this.#mustRaise = true
    const { counts } = this.#keys
    await this.#options.redis.write([{ key: counts, name: 'zrem', args: [counts, ...strange] }])
    return false
  }

  /** Goes on in the life of the counts that Redis told of; whether it did, and it is worth to try again at once. */
  #follow(answers: readonly (HotBlocksAnswer | undefined)[]): boolean {
    if (answers.some((answer) => answer?.status === 'late')) this.#writers += 1
    const other = answers.findLast((answer) => answer?.status === 'other' || answer?.status === 'broken')
    if (!other) return /^(?:late|lost)$/.test(answers.at(-1)?.status ?? '')
    // another proxy has been told to forget
    if (this.#epoch >= 0 && other.epoch > this.#epoch) this.#ledger.clear()
    this.#epoch = other.epoch
    this.#life = other.life
    return true
  }

  /** Whether nothing is left to be done at once. */
  async #clearAll(): Promise<boolean> {
    this.#mustClear = false
    const [reply] = await this.#write([['clear', []]])
    const answer = this.#understand(reply!)
    if (answer?.status === 'done') {
      this.#epoch = answer.epoch
      this.#life = answer.life
      return false
    }
    this.#mustClear = true
    this.#heard = 0
    return !this.#follow([answer])
  }

  get #keys(): ReturnType<typeof hotBlocksRedisKeys> {
    const { namespace, proxy } = this.#options
    return hotBlocksRedisKeys(namespace, `${proxy}.${this.#writers}`)
  }

  #toCommand(...[task, blocks, length = 0]: Task): RedisCommand {
    const { proxy, ttlSeconds, capacity = hotBlocksCapacity } = this.#options
    const { counts, writer } = this.#keys
    const heard = task === 'clear' ? 0 : this.#heard
    this.#commands += 1
    this.#heard = this.#commands
    const lives = [this.#epoch, this.#life, `${proxy}.${this.#commands}`]
    const counted = blocks.flatMap((hot) => [hot.block, toScore(hot)])
    const args = [ttlSeconds, capacity, length, this.#commands, heard, ...lives, task, ...counted]
    return evalBytesCommand(countHotBlocks, [counts, writer], args)
  }

  #understand(reply: RedisReply): HotBlocksAnswer | undefined {
    if ('error' in reply) {
      if (!isToBeRepeated(reply.error)) this.#options.onFault('redis_write')
      return undefined
    }
    const answer = readHotBlocksAnswer(reply)
    const isStrange = !answer || answer.status === 'broken' || answer.strange.length > 0
    if (isStrange) this.#options.onFault('redis_value')
    return answer
  }
}

/** Whether Redis has surely not done what it was told. */
function isUntouched(reply: RedisReply, answer: HotBlocksAnswer | undefined): boolean {
  if ('error' in reply) return isToBeRepeated(reply.error) && !isNoAnswer(reply.error)
  // one that came late may be the repetition, by a client of a cluster, of one that was done
  return /^(?:other|broken|lost)$/.test(answer?.status ?? '')
}

function inParts<Item>(items: readonly Item[], length: number): Item[][] {
  const parts: Item[][] = []
  for (let at = 0; at < items.length; at += length) parts.push(items.slice(at, at + length))
  return parts
}
