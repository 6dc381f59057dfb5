import { setTimeout as pause } from 'node:timers/promises'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { type EngineConnection, isGood, type Reply } from './engine-connection.ts'
import type { Finding } from './finding.ts'

/** A replica as `GET /v1/mirror` lists it. */
export interface MirroredReplica {
  readonly replica: string
  readonly mode: string
  /** that of the last report */
  readonly sequence?: number | undefined
  /** of the engine's life */
  readonly generation?: string | null | undefined
}

/** What a running proxy knew before the engine was checked, or why it cannot be asked. */
export type MirrorAtStart = { readonly replicas: readonly MirroredReplica[] } | { readonly finding: Finding }

/** The plugins report within a second. */
const settleMilliseconds = 3_000
const pollMilliseconds = 100

/** Asks a running proxy what it has heard of its engines so far. */
export async function readMirror(connection: EngineConnection, adminUrl: string): Promise<MirrorAtStart> {
  const finding = { check: 'mirror' }
  const reply = await connection.get('/v1/mirror')
  if (!isGood(reply)) return { finding: { ...finding, level: 'fatal', ...faultOf(reply, adminUrl) } }
  const replicas = replicasOf(reply.json)
  if (replicas) return { replicas }
  const fix = "give what 'reprise serve' prints as admin_url"
  return { finding: { ...finding, level: 'fatal', found: `${adminUrl} is no admin listener of reprise`, fix } }
}

function faultOf(reply: Reply, adminUrl: string): { found: string; fix: string } {
  const isRefused = 'status' in reply && reply.status === 401
  const why = 'status' in reply ? `answers ${reply.status}` : reply.message
  const fix = isRefused
    ? "give the proxy's admin token in REPRISE_ADMIN_TOKEN"
    : "give what 'reprise serve' prints as admin_url, while it runs"
  return { found: `${adminUrl}: ${why}`, fix }
}

/** What is known of the engine that was checked meanwhile. */
export interface CheckedEngine {
  readonly kind: EngineKind
  /** it computed prompts that were new to it, which its reports must tell of */
  readonly hasComputed: boolean
}

/** Asks a running proxy whether it has heard from its engines since, and judges what it knows of them. */
export async function checkMirror(
  connection: EngineConnection,
  adminUrl: string,
  before: readonly MirroredReplica[],
  engine: CheckedEngine,
): Promise<Finding[]> {
  const replicas = await waitForReports(connection, before, engine.hasComputed)
  const hasNews = replicas.some((replica) => isNews(replica, before))
  return replicas.map((replica) => ({ check: 'mirror', ...judge(replica) }))

  function judge(replica: MirroredReplica): Omit<Finding, 'check'> {
    if (replica.mode !== 'exact') return judgeInexact(replica, adminUrl, engine.kind)
    const name = `${replica.replica}: exact, `
    if (isNews(replica, before)) return { level: 'ok', found: `${name}its reports arrive` }
    if (hasNews || !engine.hasComputed) return { level: 'ok', found: `${name}but it did not report meanwhile` }
    const fix = `start this engine with REPRISE_CALLBACK_URL=${callbackUrl(replica, adminUrl)}, another name for each engine`
    return { level: 'warning', found: `${name}but nobody reported while this engine computed new prompts`, fix }
  }
}

async function waitForReports(
  connection: EngineConnection,
  before: readonly MirroredReplica[],
  isWorthIt: boolean,
): Promise<readonly MirroredReplica[]> {
  const end = performance.now() + (isWorthIt ? settleMilliseconds : 0)
  for (;;) {
    const reply = await connection.get('/v1/mirror')
    const replicas = (isGood(reply) ? replicasOf(reply.json) : undefined) ?? before
    // where no replica is exact none is going to become so by waiting
    const isWaiting = replicas.some(({ mode }) => mode === 'exact') && !replicas.some((one) => isNews(one, before))
    if (!isWaiting || performance.now() >= end) return replicas
    await pause(pollMilliseconds)
  }
}

function isNews({ replica, sequence, generation }: MirroredReplica, before: readonly MirroredReplica[]): boolean {
  const old = before.find((candidate) => candidate.replica === replica)
  return sequence !== old?.sequence || generation !== old?.generation
}

function judgeInexact(replica: MirroredReplica, adminUrl: string, kind: EngineKind): Omit<Finding, 'check'> {
  const { mode } = replica
  if (mode === 'degraded') {
    const fix =
      "see the log of the engine's plugin: reports are late or lost, a snapshot repairs them; with events=, give replay= as well"
    return { level: 'warning', found: `${replica.replica}: degraded, reports are missing`, fix }
  }
  const flags = {
    vllm: ` and --kv-transfer-config '{"kv_connector":"RepriseConnector","kv_connector_module_path":"reprise_vllm.connector","kv_role":"kv_producer"}'`,
    sglang: ' and --radix-cache-backend reprise',
    openai: '',
  }
  return {
    level: 'warning',
    found: `${replica.replica}: ${mode}, the engine has reported nothing: what it holds is guessed`,
    fix: `install the engine's plugin and start the engine with REPRISE_CALLBACK_URL=${callbackUrl(replica, adminUrl)}${flags[kind]}`,
  }
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
