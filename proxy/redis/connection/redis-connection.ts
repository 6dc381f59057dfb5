import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { RedisClient } from './create-redis-client.ts'
import type { RedisCommand, RedisReply } from './redis-command.ts'
import { isNoAnswer } from './redis-errors.ts'
import { RedisMarks } from './redis-marks.ts'
import { RefusedWrites } from './refused-writes.ts'
import { runCommands } from './run-commands.ts'

/** What the connection tells those who keep state in Redis. */
export interface RedisListener {
  /** Redis answers again; what is still to be written can be. */
  onUp(): void
  /** Redis may hold nothing, or not all, of what was written: it was away, was flushed, or is another one. */
  onLost(): void
}

/** Redis as the parts of the proxy use it: nothing of it rejects, and nothing holds up a request. */
export interface RedisAccess {
  readonly isUp: boolean
  /** The replies, if they come in time for a request; undefined if not. Late ones go to `onLate`. */
  read(commands: readonly RedisCommand[], onLate?: (replies: RedisReply[]) => void): Promise<RedisReply[] | undefined>
  /** The replies, whenever they come. */
  write(commands: readonly RedisCommand[]): Promise<RedisReply[]>
  listen(listener: RedisListener): void
}

export interface RedisConnectionOptions {
  /** keys of this proxy's own, which say that Redis still holds what it was given: one to a node at least */
  readonly marks: readonly string[]
  readonly markSeconds: number
  /** of a server, which may not have it; 0 unless said otherwise */
  readonly database?: number
  readonly log: Log
  /** milliseconds */
  readonly now: () => number
  /** counts an answer that a request did not wait for */
  readonly onLateRead: () => void
  /** counts a batch of writes of which Redis refused something that is tried again */
  readonly onRefused?: () => void
  readonly readMilliseconds?: number | undefined
  readonly probeMilliseconds?: number
  readonly answerMilliseconds?: number
}

/** A request waits 5 ms at most; timers come late. */
const readMilliseconds = 4
const defaultProbeMilliseconds = 300
const defaultAnswerMilliseconds = 1_000
/** Marks that are lost again and again are evicted, not flushed. */
const [shortestRewrite, longestRewrite] = [1_000, 60_000]

/** A connection that is kept up, and knows whether Redis answers and still holds what it was given. */
export class RedisConnection implements RedisAccess {
  readonly #client: RedisClient
  readonly #options: RedisConnectionOptions
  readonly #listeners: RedisListener[] = []
  readonly #marks: RedisMarks
  readonly #refused: RefusedWrites
  readonly #closing = new AbortController()
  #isUp = false
  /** an answer did not come in time: requests do not ask before one did */
  #isSlow = false
  #wasAway = true
  /** this connection is to the database that was asked for */
  #hasDatabase = false
  /** it has been seen to hold less than it was given, and nobody has been told yet */
  #hasLost = false
  #probing: Promise<void> | undefined
  #lostAt = Number.NEGATIVE_INFINITY
  #rewriteMilliseconds = shortestRewrite
  #fault = 'it has not answered yet'
  /** kinds of faults that the log has had of this outage; undefined while it is too early to say that it is one */
  #told: Set<string> | undefined

  constructor(client: RedisClient, options: RedisConnectionOptions) {
    this.#client = client
    this.#options = options
    this.#marks = new RedisMarks(options.marks, options.markSeconds)
    this.#refused = new RefusedWrites(options)
    // a cluster says only that it has no node left, its nodes say why
    client.on('error', ({ message, lastNodeError }: Error & { lastNodeError?: Error }) => {
      this.#fault = lastNodeError ? `${message} (${lastNodeError.message})` : message
      if (!this.#isUp) this.#tellFault()
    })
    client.on('ready', () => {
      this.#hasDatabase = false
      void this.#probe()
    })
    client.on('close', () => this.#down(this.#fault))
  }

  /** Whether Redis answers. */
  get isUp(): boolean {
    return this.#isUp
  }

  listen(listener: RedisListener): void {
    this.#listeners.push(listener)
  }

  /** Connects, and goes on trying; resolves when Redis answers, or when the start should no longer wait for it. */
  async connect(longestMilliseconds: number): Promise<void> {
    // its faults are events, too
    this.#client.connect().catch(() => {})
    const until = this.#options.now() + longestMilliseconds
    void this.#keepProbing()
    while (!this.#isUp && this.#options.now() < until) await pause(5)
    this.#told ??= new Set()
    if (!this.#isUp) this.#tellFault()
  }

  async read(
    commands: readonly RedisCommand[],
    onLate?: (replies: RedisReply[]) => void,
  ): Promise<RedisReply[] | undefined> {
    if (!this.#isUp || this.#isSlow) return undefined
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => {
      // when we were busy ourselves, the answer may be there and not have been looked at
      timer = setTimeout(() => setImmediate(resolve, undefined), this.#options.readMilliseconds ?? readMilliseconds)
    })
    const replies = runCommands(this.#client, commands)
    const inTime = await Promise.race([replies, late])
    clearTimeout(timer)
    if (inTime) return inTime
    this.#isSlow = true
    this.#options.onLateRead()
    void replies.then(onLate)
    void this.#probe()
    return undefined
  }

  async write(commands: readonly RedisCommand[]): Promise<RedisReply[]> {
    const replies = await runCommands(this.#client, commands)
    this.#refused.heard(replies)
    return replies
  }

  close(): void {
    this.#closing.abort()
    this.#client.disconnect()
  }

  async #keepProbing(): Promise<void> {
    const { signal } = this.#closing
    const { probeMilliseconds = defaultProbeMilliseconds } = this.#options
    while (!signal.aborted) {
      await this.#probe()
      await pause(probeMilliseconds, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#ask().finally(() => {
      this.#probing = undefined
    })
    return this.#probing
  }

  /** Asks whether the marks are still there, and makes those anew that are not. */
  async #ask(): Promise<void> {
    let fault = await this.#askOnce()
    if (fault === undefined && this.#marks.isIncomplete) fault = await this.#askOnce()
    if (this.#closing.signal.aborted) return
    if (fault !== undefined) return this.#down(fault)
    this.#isSlow = false
    this.#up()
  }

  /** Why Redis does not answer; undefined when it does. */
  async #askOnce(): Promise<string | undefined> {
    if (this.#client.status !== 'ready') return this.#fault
    const missing = await this.#askForDatabase()
    if (missing !== undefined) return missing
    const { commands, read } = this.#marks.ask()
    const replies = await this.#answersTo(commands)
    if (typeof replies === 'string') return replies
    // what was made anew had been lost, and will not be seen again
    if (read(replies)) this.#hasLost = true
    const silent = replies.find((reply) => 'error' in reply && isNoAnswer(reply.error))
    if (silent && 'error' in silent) return silent.error.message
    this.#refused.probed(replies)
    return undefined
  }

  /** A client goes on in database 0 where there is none of the number that it was told. */
  async #askForDatabase(): Promise<string | undefined> {
    const { database = 0 } = this.#options
    if (database === 0 || this.#hasDatabase) return undefined
    const replies = await this.#answersTo([{ key: '', name: 'select', args: [database] }])
    if (typeof replies === 'string') return replies
    const [reply] = replies
    if (reply && 'error' in reply) return `database ${database}: ${reply.error.message}`
    this.#hasDatabase = true
    return undefined
  }

  /** What Redis answers, or that it does not. */
  async #answersTo(commands: readonly RedisCommand[]): Promise<RedisReply[] | string> {
    const { answerMilliseconds = defaultAnswerMilliseconds, now } = this.#options
    const asked = now()
    const silence = new AbortController()
    const replies = await Promise.race([
      runCommands(this.#client, commands),
      pause(answerMilliseconds, undefined, { signal: silence.signal, ref: false }).catch(() => undefined),
    ])
    silence.abort()
    return replies ?? `it has not answered for ${Math.round(now() - asked)} ms`
  }

  #up(): void {
    const { log } = this.#options
    if (!this.#isUp) {
      log.info('Redis answers')
      this.#isUp = true
      this.#told = new Set()
      // what was wrong before is not what will be wrong next
      this.#fault = 'the connection was closed'
      for (const listener of this.#listeners) listener.onUp()
    }
    if (!this.#wasAway && !(this.#hasLost && this.#mayRewrite())) return
    if (!this.#wasAway) log.warn('Redis has lost what it held: writing it again')
    this.#wasAway = false
    this.#hasLost = false
    for (const listener of this.#listeners) listener.onLost()
  }

  #mayRewrite(): boolean {
    const since = this.#options.now() - this.#lostAt
    if (since < this.#rewriteMilliseconds) return false
    this.#rewriteMilliseconds = since > longestRewrite ? shortestRewrite : 2 * this.#rewriteMilliseconds
    this.#lostAt = this.#options.now()
    return true
  }

  #down(fault: string): void {
    if (this.#client.status !== 'ready') this.#wasAway = true
    this.#fault = fault
    this.#isUp = false
    this.#tellFault()
  }

  /** An outage has one line, and another one when Redis begins to say that it refuses us, or what it is asked for. */
  #tellFault(): void {
    const kind = /NOAUTH|WRONGPASS|NOPERM|^database/.exec(this.#fault)?.[0] ?? ''
    if (!this.#told || this.#told.has(kind) || this.#closing.signal.aborted) return
    this.#told.add(kind)
    this.#options.log.warn({ fault: this.#fault }, 'Redis does not answer: going on from memory')
  }
}
