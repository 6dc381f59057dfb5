import { setTimeout as pause } from 'node:timers/promises'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import { within } from '../../common/within.ts'
import type { RedisAddress } from '../../config/read-redis-url.ts'
import { type RedisClient, renewClient } from './create-redis-client.ts'
import { type RedisCommand, type RedisReply, setCommand } from './redis-command.ts'
import { isNoAnswer } from './redis-errors.ts'
import { RefusedWrites, type RefusedWritesOptions } from './refused-writes.ts'
import { runCommands } from './run-commands.ts'

/** Callbacks for parts of the proxy that keep state in Redis. */
export interface RedisListener {
  /** Redis answers again: pending writes can continue. */
  onUp(): void
  /** Redis may have lost some or all of what was written: it was away, was flushed, or is another server. */
  onLost(): void
}

/** Redis as the parts of the proxy use it. Nothing rejects, and nothing holds up a request. */
export type RedisAccess = Readonly<Pick<RedisConnection, 'isUp' | 'read' | 'write' | 'listen'>>

export interface RedisConnectionOptions extends RefusedWritesOptions {
  /** keys owned by this proxy, which show that Redis still holds its data: at least one per node */
  readonly marks: readonly string[]
  readonly markSeconds: number
  /** database number, which the server may not have; default 0 */
  readonly database?: number
  /** counts a reply that came too late for its request */
  readonly onLateRead: () => void
  readonly readMilliseconds?: number | undefined
  readonly probeMilliseconds?: number
  readonly answerMilliseconds?: number
}

/** A request waits 5 ms at most; timers fire late. */
const readMilliseconds = 4
const defaultProbeMilliseconds = 300
const defaultAnswerMilliseconds = 1_000
/** If marks are lost again and again, Redis evicts them rather than being flushed: rewrite ever more rarely. */
const [shortestRewrite, longestRewrite] = [1_000, 60_000]

/** Keeps a connection to Redis up, and tracks whether Redis answers and still holds what was written. */
export class RedisConnection {
  /** whether Redis answers */
  isUp = false
  readonly #client: RedisClient
  readonly #options: RedisConnectionOptions
  readonly #listeners = new Set<RedisListener>()
  /**
   * The marks known to exist. They are only refreshed, never created: so a lost mark stays lost until we see it, however
   * late a command takes effect and whatever becomes of its reply.
   */
  readonly #known = new Set<string>()
  readonly #refused: RefusedWrites
  readonly #closing = new AbortController()
  /** a reply was late: requests do not ask again until one arrives in time */
  #isSlow = false
  #wasAway = true
  /** the connection has selected the configured database */
  #hasDatabase = false
  /** Redis was found to have lost data, and the listeners do not know yet */
  #hasLost = false
  #probing: Promise<void> | undefined
  #lostAt = Number.NEGATIVE_INFINITY
  #rewriteMilliseconds = shortestRewrite
  #fault = 'it has not answered yet'
  /** kinds of faults logged for this outage; undefined while it is too early to call it an outage */
  #told: Set<string> | undefined

  constructor(client: RedisClient, options: RedisConnectionOptions) {
    this.#client = client
    this.#options = options
    this.#refused = new RefusedWrites(options)
    // a cluster only reports that no node is left; its nodes say why
    client.on('error', ({ message, lastNodeError }: Error & { lastNodeError?: Error }) => {
      this.#fault = lastNodeError ? `${message} (${lastNodeError.message})` : message
      if (!this.isUp) this.#tellFault()
    })
    client.on('ready', () => {
      this.#hasDatabase = false
      void this.#probe()
    })
    client.on('close', () => this.#down(this.#fault))
  }

  /** The next connections log in and prove who they are like this; the present one stays. */
  renew(login: Pick<RedisAddress, 'username' | 'password'>, tls: EngineTls | undefined): void {
    renewClient(this.#client, login, tls)
  }

  /** Returns what ends it. */
  listen(listener: RedisListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Connects, and keeps trying. Resolves when Redis answers, or after `longestMilliseconds`. */
  async connect(longestMilliseconds: number): Promise<void> {
    // its errors are emitted as events, too
    this.#client.connect().catch(() => {})
    const until = this.#options.now() + longestMilliseconds
    void this.#keepProbing()
    while (!this.isUp && this.#options.now() < until) await pause(5)
    this.#told ??= new Set()
    if (!this.isUp) this.#tellFault()
  }

  /** Returns the replies if they arrive in time for a request, otherwise undefined. Late ones go to `onLate`. */
  async read(
    commands: readonly RedisCommand[],
    onLate?: (replies: RedisReply[]) => void,
  ): Promise<RedisReply[] | undefined> {
    if (!this.isUp || this.#isSlow) return undefined
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => {
      // if this process was busy, the reply may have arrived unread
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

  /** Returns the replies, however late. */
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

  /** Checks whether the marks still exist, and creates the missing ones. */
  async #ask(): Promise<void> {
    let fault = await this.#askOnce()
    if (fault === undefined && this.#known.size < this.#options.marks.length) fault = await this.#askOnce()
    if (this.#closing.signal.aborted) return
    if (fault !== undefined) return this.#down(fault)
    this.#isSlow = false
    this.#up()
  }

  /** Returns why Redis does not answer; undefined if it does. */
  async #askOnce(): Promise<string | undefined> {
    if (this.#client.status !== 'ready') return this.#fault
    const missing = await this.#askForDatabase()
    if (missing !== undefined) return missing
    const { marks, markSeconds } = this.#options
    const flags = marks.map((key) => (this.#known.has(key) ? (['XX'] as const) : []))
    const replies = await this.#answersTo(marks.map((key, i) => setCommand(key, '1', markSeconds, ...flags[i]!)))
    if (typeof replies === 'string') return replies
    for (const [i, key] of marks.entries()) this.#noteMark(key, replies[i]!)
    const silent = replies.find((reply) => 'error' in reply && isNoAnswer(reply.error))
    if (silent && 'error' in silent) return silent.error.message
    this.#refused.probed(replies)
    return undefined
  }

  #noteMark(key: string, reply: RedisReply): void {
    if ('error' in reply) return
    if (reply.value === null) this.#known.delete(key)
    else if (!this.#known.has(key)) {
      this.#known.add(key)
      // it had been lost, and this is the only time we see it
      this.#hasLost = true
    }
  }

  /** Checks that the database exists: a client silently stays in database 0 if its own does not. */
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

  /** Returns the replies of Redis, or a text that says it has not answered. */
  async #answersTo(commands: readonly RedisCommand[]): Promise<RedisReply[] | string> {
    const { answerMilliseconds = defaultAnswerMilliseconds, now } = this.#options
    const asked = now()
    const replies = await within(answerMilliseconds, runCommands(this.#client, commands))
    return replies ?? `it has not answered for ${Math.round(now() - asked)} ms`
  }

  #up(): void {
    const { log } = this.#options
    if (!this.isUp) {
      log.info('Redis answers')
      this.isUp = true
      this.#told = new Set()
      // the next outage needs its own reason
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
    this.isUp = false
    this.#tellFault()
  }

  /** Logs an outage once, and again if Redis starts to refuse our login, our permissions or the database. */
  #tellFault(): void {
    const kind = /NOAUTH|WRONGPASS|NOPERM|^database/.exec(this.#fault)?.[0] ?? ''
    if (!this.#told || this.#told.has(kind) || this.#closing.signal.aborted) return
    this.#told.add(kind)
    this.#options.log.warn({ fault: this.#fault }, 'Redis does not answer: going on from memory')
  }
}
