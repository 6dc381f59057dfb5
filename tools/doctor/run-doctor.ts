import { statusOf } from '#proxy/common/errors.ts'
import { withoutPassword } from '#proxy/config/read-arguments.ts'
import { endlessHops } from '#proxy/http/forwarded-headers.ts'
import { EngineConnection } from '../engine-connection.ts'
import { checkPrompt, samplePrompt } from './check-prompt.ts'
import { AskedProxy, type CheckedEngine, type MirroredReplica } from './check-proxy.ts'
import { checkRedis } from './check-redis.ts'
import { answersReplays, hasEvents, hearEvents, judgeEvents, type ListenedEngine } from './engine/check-events.ts'
import { checkReachable, contextLengthOf, judgeContextLength, selectModel } from './engine/check-models.ts'
import { checkTokenEndpoint } from './engine/check-token-endpoint.ts'
import { type EngineIdentity, identifyEngine, judgeFacts, judgeKind } from './engine/engine-facts.ts'
import { type DoctorOptions, type DoctorReport, type Finding, notChecked, warning } from './finding.ts'
import { checkPrefixCache, checkPromptLength } from './prefix-cache/check-prefix-cache.ts'

/** Checks an engine and everything around it that users often get wrong. Rejects only when `signal` aborts. */
export async function runDoctor(options: DoctorOptions, signal: AbortSignal): Promise<DoctorReport> {
  const { engine, prompt, adminUrl, startWarnings = [] } = options
  const proxy = adminUrl === undefined ? undefined : new AskedProxy(adminUrl, options, signal)
  try {
    // before the probes: what the engine computes must appear in the reports that the proxy receives
    await proxy?.begin()
    const checked = await checkEngine(options, signal, proxy?.find(engine))
    const findings = [
      ...startWarnings.map((found) => warning('configuration', found)),
      ...checked.findings,
      ...checkPrompt({ json: prompt?.json ?? samplePrompt, file: prompt?.file }),
      ...(options.redisUrl === undefined
        ? []
        : await checkRedis(options.redisUrl, options.timeoutMilliseconds, signal, options.redisTls)),
      ...(proxy ? await proxy.check({ ...engine, ...checked }, startWarnings) : [notAsked]),
    ]
    return toReport(withoutPassword(engine.url), engine.kind ?? null, findings)
  } finally {
    await proxy?.close()
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

/** The findings about an engine, and what the other checks need to know about it. */
interface CheckedEngineReport extends CheckedEngine {
  readonly findings: readonly Finding[]
}

/** Checks an engine, its cache and the events it publishes. `replica`: what a running proxy knows of it. */
async function checkEngine(
  options: DoctorOptions,
  signal: AbortSignal,
  replica?: MirroredReplica,
): Promise<CheckedEngineReport> {
  const { engine, engineKey, engineTls: tls, timeoutMilliseconds } = options
  const connection = new EngineConnection(engine.url, { token: engineKey, tls, timeoutMilliseconds, signal })
  const given = engine.kind ?? 'openai'
  try {
    const hasKey = engineKey !== undefined
    const { finding, models } = await checkReachable(connection, { ...engine, hasKey })
    if (finding.level === 'fatal') return { findings: [finding], kind: given, hasComputed: false }
    const identity = await identifyEngine(connection, models)
    const { finding: selection, model } = selectModel(models, options.model)
    const kind = identity.kind ?? given
    const findings = [finding, ...(await checkProxied(connection)), judgeKind(engine.kind, identity), selection]
    if (!model) return { findings, kind, hasComputed: false }
    findings.push(judgeContextLength(contextLengthOf(model)))
    // as the proxy would: without a given kind it adds no salt
    const probed = { kind, isSalted: given !== 'openai', model, cache: identity.cache, replica }
    const probe = (): Promise<Finding[]> => checkPrefixCache(connection, probed)
    findings.push(...(hasEvents(engine) ? await listenTo(engine, identity, probe, signal) : await probe()))
    findings.push(...judgeFacts(kind, identity.facts, engine))
    if (options.prompt) findings.push(...(await checkPromptLength(connection, options.prompt, probed)))
    if (hasEvents(engine) && identity.kind)
      findings.push(await checkTokenEndpoint(connection, { kind: identity.kind, model: model.id }))
    return { findings, kind, hasComputed: hasComputed(findings) }
  } finally {
    await connection.close()
  }
}

/** Finds out whether the URL is that of a proxy: it alone refuses a request that seems to go round in a circle. */
async function checkProxied(connection: EngineConnection): Promise<Finding[]> {
  const reply = await connection.get('/v1/models', endlessHops)
  if (reply.status !== statusOf.loop_detected) return []
  const found = 'the URL is that of a reprise proxy: what is found here is true of what it sends'
  return [warning('engine', found, "give the engine's own URL")]
}

/** Sends the probes while listening to the engine's events. */
async function listenTo(
  engine: ListenedEngine,
  identity: EngineIdentity,
  probe: () => Promise<Finding[]>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [probes, heard] = await hearEvents(engine.events, probe, signal)
  const isCaching = !probes.some(({ check, level }) => check === 'prefix_caching' && level === 'fatal')
  const answers = engine.replay === undefined ? undefined : await answersReplays(engine.replay, signal)
  signal.throwIfAborted()
  const evidence = { engine, identity, heard, hasComputed: hasComputed(probes), isCaching, answersReplays: answers }
  return [...probes, ...judgeEvents(evidence)]
}

/** Whether the engine answered the probes: only then is there a finding about cached tokens. */
function hasComputed(findings: readonly Finding[]): boolean {
  return findings.some(({ check }) => check === 'cached_tokens')
}
