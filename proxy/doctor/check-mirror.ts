import { type EngineConnection, isGood } from './engine-connection.ts'
import type { Finding } from './finding.ts'

/** A replica as `GET /v1/mirror` lists it. */
interface MirroredReplica {
  readonly replica: string
  readonly mode: string
}

/** Asks a running proxy whether it hears from its engines. */
export async function checkMirror(connection: EngineConnection, adminUrl: string): Promise<Finding[]> {
  const finding = { check: 'mirror' }
  const reply = await connection.get('/v1/mirror')
  if (!isGood(reply)) {
    const isRefused = 'status' in reply && reply.status === 401
    const why = 'status' in reply ? `answers ${reply.status}` : reply.message
    const fix = isRefused
      ? "give the proxy's admin token in REPRISE_ADMIN_TOKEN"
      : "give what 'reprise serve' prints as admin_url, while it runs"
    return [{ ...finding, level: 'fatal', found: `${adminUrl}: ${why}`, fix }]
  }
  const replicas = replicasOf(reply.json)
  if (replicas === undefined) {
    const fix = "give what 'reprise serve' prints as admin_url"
    return [{ ...finding, level: 'fatal', found: `${adminUrl} is no admin listener of reprise`, fix }]
  }
  return replicas.map((replica) => ({ ...finding, ...judgeReplica(replica, adminUrl) }))
}

function judgeReplica({ replica, mode }: MirroredReplica, adminUrl: string): Omit<Finding, 'check'> {
  if (mode === 'exact') return { level: 'ok', found: `${replica}: exact, its reports arrive` }
  if (mode === 'degraded') {
    const fix = "see the log of the engine's plugin: reports are late or lost; a snapshot repairs the mirror"
    return { level: 'warning', found: `${replica}: degraded, reports are missing`, fix }
  }
  const url = `${adminUrl.replace(/\/+$/, '')}/v1/replicas/${replica}`
  const fix = `install the engine's plugin and start the engine with REPRISE_CALLBACK_URL=${url}`
  return {
    level: 'warning',
    found: `${replica}: ${mode}, the engine has reported nothing: what it holds is guessed`,
    fix,
  }
}

function replicasOf(json: unknown): MirroredReplica[] | undefined {
  const replicas = (json as { replicas?: unknown } | null | undefined)?.replicas
  if (!Array.isArray(replicas)) return undefined
  return replicas.filter(
    (one): one is MirroredReplica => typeof one?.replica === 'string' && typeof one.mode === 'string',
  )
}
