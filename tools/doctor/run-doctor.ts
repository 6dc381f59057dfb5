import { bearersWarning } from '#proxy/config/start-warnings.ts'
import { withoutPassword } from '#proxy/config/without-password.ts'
import { checkChunks } from './check-chunks.ts'
import { checkEngine } from './check-engine.ts'
import { checkPrompt, samplePrompt } from './check-prompt.ts'
import { checkRedis } from './check-redis.ts'
import { type CheckedEngine, checkMirror, findOwn, type MirrorAtStart, readMirror } from './engine/check-mirror.ts'
import { EngineConnection } from './engine/engine-connection.ts'
import { type DoctorOptions, type DoctorReport, type Finding, notChecked, ok, warning } from './finding.ts'

/** Checks an engine and everything around it that users often get wrong. Rejects only when `signal` aborts. */
export async function runDoctor(options: DoctorOptions, signal: AbortSignal): Promise<DoctorReport> {
  const { engine, prompt } = options
  const proxy = openProxy(options, signal)
  try {
    // read before the probes: what the engine computes must appear in the reports that the proxy receives
    const before = proxy && (await readMirror(proxy.connection, proxy.adminUrl))
    const replica = before && 'replicas' in before ? findOwn(before.replicas, engine) : undefined
    const checked = await checkEngine(options, signal, replica)
    const findings = [
      ...(options.startWarnings ?? []).map((found) => warning('configuration', found)),
      ...checked.findings,
      ...checkPrompt({ json: prompt?.json ?? samplePrompt, file: prompt?.file }),
      ...(options.redisUrl === undefined
        ? []
        : await checkRedis(options.redisUrl, options.timeoutMilliseconds, signal, options.redisTls)),
      ...(proxy && before ? await checkProxy(proxy, before, checked, options) : [notAsked]),
    ]
    return toReport(withoutPassword(engine.url), engine.kind ?? null, findings)
  } finally {
    await proxy?.connection.close()
  }
}

/** Checks a prompt alone, without an engine. */
export function reportOnPrompt(prompt: NonNullable<DoctorOptions['prompt']>): DoctorReport {
  return toReport(prompt.file, null, checkPrompt(prompt))
}

/** Checks a Redis alone, without an engine. Rejects only when `signal` aborts. */
export async function reportOnRedis(
  url: string,
  timeoutMilliseconds: number,
  signal: AbortSignal,
): Promise<DoctorReport> {
  return toReport(withoutPassword(url), null, await checkRedis(url, timeoutMilliseconds, signal))
}

function toReport(subject: string, kind: string | null, findings: readonly Finding[]): DoctorReport {
  return {
    engine: subject,
    kind,
    fatal: findings.filter(({ level }) => level === 'fatal').length,
    warnings: findings.filter(({ level }) => level === 'warning').length,
    findings,
  }
}

const notAsked = notChecked(
  'mirror',
  "whether the engine's reports arrive: that is known to a running proxy",
  "give --admin URL, what 'reprise serve' prints as admin_url",
)

interface AskedProxy {
  readonly adminUrl: string
  readonly connection: EngineConnection
}

function openProxy(
  { adminUrl, adminToken: token, timeoutMilliseconds }: DoctorOptions,
  signal: AbortSignal,
): AskedProxy | undefined {
  if (adminUrl === undefined) return undefined
  return { adminUrl, connection: new EngineConnection(adminUrl, { token, timeoutMilliseconds, signal }) }
}

async function checkProxy(
  { adminUrl, connection }: AskedProxy,
  before: MirrorAtStart,
  checked: CheckedEngine,
  { engine: { url, id }, startWarnings = [] }: DoctorOptions,
): Promise<readonly Finding[]> {
  if ('finding' in before) return [before.finding]
  return [
    ...(before.isByBearer && !startWarnings.includes(bearersWarning) ? [ok('tenants', bearersWarning)] : []),
    ...(await checkMirror(connection, adminUrl, before.replicas, { ...checked, url, id })),
    ...(await checkChunks(connection)),
  ]
}
