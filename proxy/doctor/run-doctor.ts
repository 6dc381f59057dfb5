import type { EngineSettings } from '../config/settings.ts'
import { checkMirror } from './check-mirror.ts'
import { contextLengthOf, judgeContextLength, selectModel } from './check-model.ts'
import { checkPrefixCache } from './check-prefix-cache.ts'
import { checkPrompt } from './check-prompt.ts'
import { checkReachable } from './check-reachable.ts'
import { checkRedis } from './check-redis.ts'
import { EngineConnection } from './engine-connection.ts'
import type { DoctorReport, Finding } from './finding.ts'
import { identifyEngine, judgeKind } from './identify-engine.ts'
import { samplePrompt } from './sample-prompt.ts'

/** What is to be checked, and with what. */
export interface DoctorOptions {
  readonly engine: EngineSettings
  readonly engineKey: string | undefined
  readonly model: string | undefined
  /** a request body and the file it comes from; undefined: the built-in sample */
  readonly prompt: { readonly file: string; readonly json: string } | undefined
  readonly redisUrl?: string | undefined
  readonly adminUrl: string | undefined
  readonly adminToken: string | undefined
  readonly timeoutMilliseconds: number
}

/** Checks an engine and everything around it that a user gets wrong. Rejects only when `signal` aborts. */
export async function runDoctor(options: DoctorOptions, signal: AbortSignal): Promise<DoctorReport> {
  const { engine, prompt } = options
  const findings = [
    ...(await checkEngine(options, signal)),
    ...checkPrompt({ json: prompt?.json ?? samplePrompt, file: prompt?.file }),
    ...judgeEvents(engine),
    ...(options.redisUrl === undefined ? [] : await checkRedis(options.redisUrl, options.timeoutMilliseconds, signal)),
    ...(await checkProxy(options, signal)),
  ]
  return {
    engine: withoutPassword(engine.url),
    kind: engine.kind ?? null,
    fatal: findings.filter(({ level }) => level === 'fatal').length,
    warnings: findings.filter(({ level }) => level === 'warning').length,
    findings,
  }
}

async function checkEngine(options: DoctorOptions, signal: AbortSignal): Promise<Finding[]> {
  const { engine, engineKey, timeoutMilliseconds } = options
  const connection = new EngineConnection(engine.url, { token: engineKey, timeoutMilliseconds, signal })
  try {
    const hasKey = engineKey !== undefined
    const { finding, models } = await checkReachable(connection, { url: engine.url, hasKey })
    if (finding.level === 'fatal') return [finding]
    const identity = await identifyEngine(connection, models)
    const { finding: selection, model } = selectModel(models, options.model)
    const findings = [finding, judgeKind(engine.kind, identity), selection]
    if (!model) return findings
    const kind = identity.kind ?? engine.kind ?? 'openai'
    // as the proxy would: without a kind it adds nothing
    const isSalted = (engine.kind ?? 'openai') !== 'openai'
    findings.push(judgeContextLength(contextLengthOf(model)))
    findings.push(...(await checkPrefixCache(connection, { kind, isSalted, model, cache: identity.cache })))
    return findings
  } finally {
    await connection.close()
  }
}

// what this version cannot look at is said, not passed over
function judgeEvents({ events }: EngineSettings): Finding[] {
  if (events === undefined) return []
  const found = `${events} is not checked: this version does not read engines' own events`
  return [{ check: 'events', level: 'not_checked', found, fix: "use the engine's plugin, which reports by callbacks" }]
}

async function checkProxy({ adminUrl, ...options }: DoctorOptions, signal: AbortSignal): Promise<Finding[]> {
  if (adminUrl === undefined) {
    const found = "whether the engine's reports arrive: that is known to a running proxy"
    const fix = "give --admin URL, what 'reprise serve' prints as admin_url"
    return [{ check: 'mirror', level: 'not_checked', found, fix }]
  }
  const { adminToken: token, timeoutMilliseconds } = options
  const connection = new EngineConnection(adminUrl, { token, timeoutMilliseconds, signal })
  try {
    return await checkMirror(connection, adminUrl)
  } finally {
    await connection.close()
  }
}

function withoutPassword(text: string): string {
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  url.username = ''
  url.password = ''
  return url.href
}
