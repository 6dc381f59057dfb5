import { statusOf } from '#proxy/common/errors.ts'
import { withoutPassword } from '#proxy/config/read-arguments.ts'
import { endlessHops } from '#proxy/http/forwarded-headers.ts'
import { EngineConnection } from '../engine-connection.ts'
import { checkPrompt, samplePrompt } from './check-prompt.ts'
import { AskedProxy, type CheckedEngine, type MirroredReplica } from './check-proxy.ts'
import { checkRedis } from './check-redis.ts'
import { checkEvents, hasEvents } from './engine/check-events.ts'
import { checkReachable, contextLengthOf, judgeContextLength, selectModel } from './engine/check-models.ts'
import { checkTokenEndpoint } from './engine/check-token-endpoint.ts'
import { identifyEngine, judgeFacts, judgeKind } from './engine/engine-facts.ts'
import { type DoctorOptions, type DoctorReport, type Finding, hasComputed, notChecked, warning } from './finding.ts'
import { checkPrefixCache, checkPromptLength } from './prefix-cache/check-prefix-cache.ts'

/** Checks an engine and everything around it that users often get wrong. Rejects only when `signal` aborts. */
export async function runDoctor(options: DoctorOptions, signal: AbortSignal): Promise<DoctorReport> {
  const { engine, prompt, adminUrl, startWarnings = [] } = options
  const proxy = adminUrl === undefined ? undefined : new AskedProxy(adminUrl, options, signal)
  try {
    // before the probes: what the engine computes must appear in the reports that the proxy receives
    await proxy?.begin()
    const [found, checked] = await checkEngine(options, signal, proxy?.find(engine))
    const findings = [
      ...startWarnings.map((warned) => warning('configuration', warned)),
      ...found,
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

/**
 * Checks an engine, its cache and the events it publishes. `replica`: what a running proxy knows of it. Returns what the
 * other checks need to know, too.
 */
async function checkEngine(
  options: DoctorOptions,
  signal: AbortSignal,
  replica?: MirroredReplica,
): Promise<[Finding[], CheckedEngine]> {
  const { engine, engineKey, engineTls: tls, timeoutMilliseconds, prompt } = options
  const connection = new EngineConnection(engine.url, { token: engineKey, tls, timeoutMilliseconds, signal })
  const given = engine.kind ?? 'openai'
  try {
    const [contact, models] = await checkReachable(connection, engine, engineKey !== undefined)
    if (contact.level === 'fatal') return [[contact], { kind: given, hasComputed: false }]
    const identity = await identifyEngine(connection, models)
    const [selection, model] = selectModel(models, options.model)
    const kind = identity.kind ?? given
    const findings = [contact, ...(await checkProxied(connection)), judgeKind(engine.kind, identity), selection]
    if (!model) return [findings, { kind, hasComputed: false }]
    findings.push(judgeContextLength(contextLengthOf(model)))
    // as the proxy would: without a given kind it adds no salt
    const probed = { kind, isSalted: given !== 'openai', model, cache: identity.cache, replica }
    const probe = (): Promise<Finding[]> => checkPrefixCache(connection, probed)
    findings.push(...(hasEvents(engine) ? await checkEvents(engine, identity, probe, signal) : await probe()))
    findings.push(...judgeFacts(kind, identity.facts, engine))
    if (prompt) findings.push(...(await checkPromptLength(connection, prompt, probed)))
    if (hasEvents(engine) && identity.kind) findings.push(await checkTokenEndpoint(connection, identity.kind, model.id))
    return [findings, { kind, hasComputed: hasComputed(findings) }]
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
