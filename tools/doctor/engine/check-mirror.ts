import { setTimeout as pause } from 'node:timers/promises'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { pathPrefixOf } from '#engine-adapters/engine-client.ts'
import type { ReplicaDescription } from '#proxy/admin/dashboard/describe-replicas.ts'
import { type Finding, fatal, notChecked, ok, warning } from '../finding.ts'
import { type EngineConnection, isGood, type Reply } from './engine-connection.ts'

/** A replica as `GET /v1/mirror` lists it; a proxy of another version may not say everything. */
export type MirroredReplica = Pick<ReplicaDescription, 'replica' | 'mode'> & Partial<ReplicaDescription>

/** What a running proxy knew before the engine was checked, or a finding that says why it cannot be asked. */
export type MirrorAtStart =
  | { readonly replicas: readonly MirroredReplica[]; readonly isByBearer: boolean }
  | { readonly finding: Finding }

/** The plugins report within a second. */
const settleMilliseconds = 3_000
const pollMilliseconds = 100

/** Asks a running proxy what its engines have reported so far. */
export async function readMirror(connection: EngineConnection, adminUrl: string): Promise<MirrorAtStart> {
  const reply = await connection.get('/v1/mirror')
  if (!isGood(reply)) return { finding: judgeReply(reply, adminUrl) }
  const replicas = replicasOf(reply.json)
  if (replicas) return { replicas, isByBearer: isByBearer(reply.json) }
  const fix = "give what 'reprise serve' prints as admin_url"
  return { finding: fatal('mirror', `${adminUrl} is not an admin listener of reprise`, fix) }
}

/** Whether every presented bearer is a tenant of the proxy. */
function isByBearer(json: unknown): boolean {
  const { tenants } = json as { tenants?: { from?: unknown; keys?: unknown } }
  return tenants?.from === 'key' && tenants.keys === false
}

function judgeReply(reply: Reply, adminUrl: string): Finding {
  const isRefused = 'status' in reply && reply.status === 401
  const why = 'status' in reply ? `answers ${reply.status}` : reply.message
  const fix = isRefused
    ? "give the proxy's admin token in REPRISE_ADMIN_TOKEN"
    : "give what 'reprise serve' prints as admin_url, while it runs"
  return fatal('mirror', `${adminUrl}: ${why}`, fix)
}

/** What is known about the engine that was checked meanwhile. */
export interface CheckedEngine {
  readonly kind: EngineKind
  /** whether it computed prompts that were new to it, which must appear in its reports */
  readonly hasComputed: boolean
}

/** How a proxy identifies an engine. */
interface KnownEngine {
  readonly url: string
  /** its name in the proxy, if given */
  readonly id?: string | undefined
}

/**
 * Asks a running proxy whether this engine has reported since, and judges what the proxy knows about it. Lists other
 * engines only if their mirrors are not exact.
 */
export async function checkMirror(
  connection: EngineConnection,
  adminUrl: string,
  before: readonly MirroredReplica[],
  engine: CheckedEngine & KnownEngine,
): Promise<Finding[]> {
  const own = findOwn(before, engine)
  if (!own) return [judgeStranger(before, engine), ...before.filter(isInexact).map(judgeOther)]
  const replicas = await waitForReports(connection, before, own, engine.hasComputed)
  const others = replicas.filter((replica) => replica.replica !== own.replica && isInexact(replica))
  const replica = replicas.find((one) => one.replica === own.replica) ?? own
  return [judge(replica), ...others.map(judgeOther)]

  function judge(replica: MirroredReplica): Finding {
    if (isInexact(replica)) return judgeInexact(replica, adminUrl, engine.kind)
    const name = `${replica.replica}: exact, `
    if (isNews(replica, before)) return ok('mirror', `${name}its reports arrive`)
    if (!engine.hasComputed) return ok('mirror', `${name}but it did not report meanwhile`)
    const fix = `start this engine with REPRISE_CALLBACK_URL=${callbackUrl(replica, adminUrl)}, another name for each engine`
    return warning('mirror', `${name}but nobody reported while this engine computed new prompts`, fix)
  }
}

/** Finds the engine by the given name, else by URL; a proxy's only replica matches if the proxy reports no URLs. */
export function findOwn(replicas: readonly MirroredReplica[], { url, id }: KnownEngine): MirroredReplica | undefined {
  if (id !== undefined) return replicas.find(({ replica }) => replica === id)
  const [only, ...others] = replicas
  if (only && others.length === 0 && only.url === undefined) return only
  return replicas.find((replica) => replica.url !== undefined && placeOf(replica.url) === placeOf(url))
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
  const found =
    id === undefined ? `the proxy knows no engine at this URL: ${known}` : `the proxy has no replica '${id}': ${known}`
  const fix =
    id === undefined
      ? "if 'serve' knows the engine by another URL, add ,id=NAME to --engine, its name there; otherwise give its --engine to 'serve'"
      : "give the id= that 'serve' was given"
  return warning('mirror', found, fix)
}

function isInexact({ mode }: MirroredReplica): boolean {
  return mode !== 'exact'
}

function judgeOther({ replica, mode, url }: MirroredReplica): Finding {
  const fix = `run doctor with --engine ${url ?? 'URL'},kind=…,id=${replica}`
  return notChecked('mirror', `${replica}: ${mode}, another engine than this one`, fix)
}

async function waitForReports(
  connection: EngineConnection,
  before: readonly MirroredReplica[],
  { replica: own }: MirroredReplica,
  isWorthIt: boolean,
): Promise<readonly MirroredReplica[]> {
  const end = performance.now() + (isWorthIt ? settleMilliseconds : 0)
  for (;;) {
    const reply = await connection.get('/v1/mirror')
    const replicas = (isGood(reply) ? replicasOf(reply.json) : undefined) ?? before
    // waiting does not make a replica exact
    const isWaiting = replicas.some((one) => one.replica === own && !isInexact(one) && !isNews(one, before))
    if (!isWaiting || performance.now() >= end) return replicas
    await pause(pollMilliseconds)
  }
}

function isNews({ replica, sequence, generation }: MirroredReplica, before: readonly MirroredReplica[]): boolean {
  const old = before.find((candidate) => candidate.replica === replica)
  return sequence !== old?.sequence || generation !== old?.generation
}

function judgeInexact(replica: MirroredReplica, adminUrl: string, kind: EngineKind): Finding {
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
    `install the engine's plugin and start the engine with REPRISE_CALLBACK_URL=${callbackUrl(replica, adminUrl)}${flags}`,
  )
}

function callbackUrl({ replica }: MirroredReplica, adminUrl: string): string {
  return `${adminUrl.replace(/\/+$/, '')}/v1/replicas/${replica}`
}

function replicasOf(json: unknown): MirroredReplica[] | undefined {
  const replicas = (json as { replicas?: unknown } | null | undefined)?.replicas
  if (!Array.isArray(replicas)) return undefined
  return replicas.filter(
    (one): one is MirroredReplica => typeof one?.replica === 'string' && typeof one.mode === 'string',
  )
}
