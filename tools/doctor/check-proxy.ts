import { setTimeout as pause } from 'node:timers/promises'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { pathPrefixOf } from '#engine-adapters/engine-client.ts'
import type { ReplicaDescription } from '#proxy/admin/dashboard/describe-replicas.ts'
import { bearersWarning } from '#proxy/config/start-warnings.ts'
import { describeReply, EngineConnection, isGood, type Reply } from '../engine-connection.ts'
import { type DoctorOptions, type Finding, fatal, notChecked, ok, warning } from './finding.ts'

/** A replica as `GET /v1/mirror` lists it; a proxy of another version may not say everything. */
export type MirroredReplica = Pick<ReplicaDescription, 'replica' | 'mode'> & Partial<ReplicaDescription>

/** The plugins report within a second. */
const settleMilliseconds = 3_000
const pollMilliseconds = 100

/** What is known about the engine that was checked meanwhile. */
export interface CheckedEngine {
  readonly kind: EngineKind
  /** whether it computed prompts that were new to it, which must appear in its reports */
  readonly hasComputed: boolean
}

type KnownEngine = Pick<DoctorOptions['engine'], 'url' | 'id'>

/** A running proxy: what it knew before an engine was checked, and what it has heard since. */
export class AskedProxy {
  readonly #adminUrl: string
  readonly #connection: EngineConnection
  #before: readonly MirroredReplica[] = []
  #isByBearer = false
  /** why it cannot be asked */
  #fault: Finding | undefined

  constructor(adminUrl: string, { adminToken: token, timeoutMilliseconds }: DoctorOptions, signal: AbortSignal) {
    this.#adminUrl = adminUrl
    this.#connection = new EngineConnection(adminUrl, { token, timeoutMilliseconds, signal })
  }

  /** Asks what its engines have reported so far. */
  async begin(): Promise<void> {
    const reply = await this.#connection.get('/v1/mirror')
    const replicas = replicasOf(reply)
    if (!replicas) {
      this.#fault = judgeReply(reply, this.#adminUrl)
      return
    }
    this.#before = replicas
    const { tenants } = reply.json as { tenants?: { from?: unknown; keys?: unknown } }
    // every presented bearer is a tenant
    this.#isByBearer = tenants?.from === 'key' && tenants.keys === false
  }

  /** Finds an engine by the given name, else by URL; the only replica matches if the proxy reports no URLs. */
  find({ url, id }: KnownEngine): MirroredReplica | undefined {
    if (id !== undefined) return this.#before.find(({ replica }) => replica === id)
    const [only, ...others] = this.#before
    if (only && others.length === 0 && only.url === undefined) return only
    return this.#before.find((replica) => replica.url !== undefined && placeOf(replica.url) === placeOf(url))
  }

  /**
   * Judges what the proxy knows about tenants, chunks and this engine, and whether it has reported since `begin`. Lists
   * other engines only if their mirrors are not exact.
   */
  async check(engine: CheckedEngine & KnownEngine, startWarnings: readonly string[] = []): Promise<Finding[]> {
    if (this.#fault) return [this.#fault]
    const before = this.find(engine)
    const isNew = this.#isByBearer && !startWarnings.includes(bearersWarning)
    const replicas = before ? await this.#waitForReports(before, engine.hasComputed) : this.#before
    const own = replicas.find(({ replica }) => replica === before?.replica) ?? before
    const others = replicas.filter((replica) => replica.replica !== own?.replica && isInexact(replica))
    const chunks = await this.#connection.get('/v1/chunks')
    return [
      ...(isNew ? [ok('tenants', bearersWarning)] : []),
      own ? this.#judge(own, engine) : judgeStranger(this.#before, engine),
      ...others.map(judgeOther),
      ...(isGood(chunks) ? judgeChunks(chunks.json) : []),
    ]
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  #judge(replica: MirroredReplica, { kind, hasComputed }: CheckedEngine): Finding {
    const url = `${this.#adminUrl.replace(/\/+$/, '')}/v1/replicas/${replica.replica}`
    if (isInexact(replica)) return judgeInexact(replica, url, kind)
    const name = `${replica.replica}: exact, `
    if (this.#isNews(replica)) return ok('mirror', `${name}its reports arrive`)
    if (!hasComputed) return ok('mirror', `${name}but it did not report meanwhile`)
    const fix = `start this engine with REPRISE_CALLBACK_URL=${url}, another name for each engine`
    return warning('mirror', `${name}but nobody reported while this engine computed new prompts`, fix)
  }

  async #waitForReports({ replica: own }: MirroredReplica, isWorthIt: boolean): Promise<readonly MirroredReplica[]> {
    const end = performance.now() + (isWorthIt ? settleMilliseconds : 0)
    for (;;) {
      const replicas = replicasOf(await this.#connection.get('/v1/mirror')) ?? this.#before
      // waiting does not make a replica exact
      const isWaiting = replicas.some((one) => one.replica === own && !isInexact(one) && !this.#isNews(one))
      if (!isWaiting || performance.now() >= end) return replicas
      await pause(pollMilliseconds)
    }
  }

  #isNews({ replica, sequence, generation }: MirroredReplica): boolean {
    const old = this.#before.find((candidate) => candidate.replica === replica)
    return sequence !== old?.sequence || generation !== old?.generation
  }
}

function judgeReply(reply: Reply, adminUrl: string): Finding {
  const give = "give what 'reprise serve' prints as admin_url"
  if (isGood(reply)) return fatal('mirror', `${adminUrl} is not an admin listener of reprise`, give)
  const isRefused = reply.status === 401
  const fix = isRefused ? "give the proxy's admin token in REPRISE_ADMIN_TOKEN" : `${give}, while it runs`
  return fatal('mirror', `${adminUrl}: ${describeReply(reply)}`, fix)
}

/** Normalises an engine's URL, so that equivalent URLs are equal; all names of this machine become one. */
function placeOf(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  const { protocol, hostname, port } = url
  const host = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'localhost' : hostname
  return `${protocol}//${host}:${port}${pathPrefixOf(url)}`
}

function judgeStranger(replicas: readonly MirroredReplica[], { id }: KnownEngine): Finding {
  const list = replicas.map(({ replica, url }) => (url === undefined ? replica : `${replica} (${url})`)).join(', ')
  const known = list === '' ? 'it has none' : `it has ${list}`
  if (id !== undefined) {
    const found = `the proxy has no replica '${id}': ${known}`
    return warning('mirror', found, "give the id= that 'serve' was given")
  }
  const fix =
    "if 'serve' knows the engine by another URL, add ,id=NAME to --engine, its name there; otherwise give its --engine to 'serve'"
  return warning('mirror', `the proxy knows no engine at this URL: ${known}`, fix)
}

function isInexact({ mode }: MirroredReplica): boolean {
  return mode !== 'exact'
}

function judgeOther({ replica, mode, url }: MirroredReplica): Finding {
  const fix = `run doctor with --engine ${url ?? 'URL'},kind=…,id=${replica}`
  return notChecked('mirror', `${replica}: ${mode}, another engine than this one`, fix)
}

function judgeInexact(replica: MirroredReplica, callbackUrl: string, kind: EngineKind): Finding {
  const { mode } = replica
  if (mode === 'degraded') {
    const fix =
      "see the log of the engine's plugin: reports are late or lost, and a snapshot repairs that; with events=, give replay= as well"
    return warning('mirror', `${replica.replica}: degraded, reports are missing`, fix)
  }
  const { pluginFlags } = adapterFor(kind).advice
  const flags = pluginFlags === undefined ? '' : ` and ${pluginFlags}`
  return warning(
    'mirror',
    `${replica.replica}: ${mode}, the engine has reported nothing: what it holds is guessed`,
    `install the engine's plugin and start the engine with REPRISE_CALLBACK_URL=${callbackUrl}${flags}`,
  )
}

function replicasOf(reply: Reply): MirroredReplica[] | undefined {
  const replicas = isGood(reply) ? (reply.json as { replicas?: unknown } | null | undefined)?.replicas : undefined
  if (!Array.isArray(replicas)) return undefined
  return replicas.filter(
    (one): one is MirroredReplica => typeof one?.replica === 'string' && typeof one.mode === 'string',
  )
}

/** Judges the answer of `GET /v1/chunks`. */
export function judgeChunks(json: unknown): Finding[] {
  const { chunks, learned, learns, last_match_seconds_ago: last } = (json ?? {}) as Record<string, unknown>
  if (typeof chunks !== 'number' || typeof learned !== 'number') return []
  const check = 'known_chunks'
  if (chunks === 0) {
    const found = `no chunk is known${learns === false ? ', and none is learned (learn)' : ''}: documents that are separated only by blank lines are not found`
    return [
      notChecked(check, found, 'send embeddings and reranks through the proxy, or register chunks: docs/chunks.md'),
    ]
  }
  const known = `${chunks} chunks are known, ${learned} of them learned and ${chunks - learned} registered`
  if (typeof last === 'number') return [ok(check, `${known}; a prompt last contained one ${last} s ago`)]
  const fix =
    'see GET /v1/shapes for what is left alone; a chunk must be in the prompt as it was embedded or registered'
  return [warning(check, `${known}, and no prompt contained any of them`, fix)]
}
