import { withoutPassword } from '#proxy/config/read-arguments.ts'
import { checkEngine } from './check-engine.ts'
import { checkPrompt, samplePrompt } from './check-prompt.ts'
import { AskedProxy } from './check-proxy.ts'
import { checkRedis } from './check-redis.ts'
import { type DoctorOptions, type DoctorReport, type Finding, notChecked, warning } from './finding.ts'

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
