import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ConfigError } from '#proxy/common/errors.ts'
import { readAdminToken } from '#proxy/config/ask-admin.ts'
import type { EngineSettings } from '#proxy/config/config.ts'
import { findEngineFaults } from '#proxy/config/faults/find-contradictions.ts'
import { argument, readEngine, readUrl } from '#proxy/config/read-arguments.ts'
import { readRedisUrl } from '#proxy/config/read-redis-url.ts'
import type { DoctorOptions, DoctorReport } from './finding.ts'

interface DoctorFlags {
  engine?: EngineSettings
  config?: string
  model?: string
  prompt?: { file: string; json: string }
  admin?: string
  redis?: string
  timeoutSeconds: number
  json?: boolean
}

/** Adds `doctor`. Its modules are loaded when it runs, so that other commands do not start more slowly. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'checks an engine, a prompt and a running proxy for common mistakes; exits with 1 if anything is fatal',
    )
    .option(
      '--engine <url[,kind=…]>',
      "the engine, as for 'serve' (key: REPRISE_ENGINE_API_KEY); this or --config is needed for all checks except those of a prompt and of Redis",
      once(readCheckedEngine),
    )
    .addOption(
      new Option(
        '--config <file>',
        "checks what the configuration of 'serve' names: engines, certificates, Redis",
      ).conflicts(['engine', 'redis']),
    )
    .option('--model <name>', 'the model to check with (default: the first that the engine serves)')
    .option('--prompt <file>', 'a request body of your application, as JSON', argument(readPromptFile))
    .option('--admin <url>', "admin_url of a running 'serve' (token: REPRISE_ADMIN_TOKEN)", argument(readUrl))
    .option('--redis <url>', "the Redis, as for 'serve'", argument(checkRedisUrl))
    .option('--timeout-seconds <n>', 'longest wait for an answer', readSeconds, 30)
    .option('--json', 'a report for programs')
    .action(runCommand)
}

async function runCommand(flags: DoctorFlags, command: Command): Promise<void> {
  const { runDoctor, reportOnPrompt, reportOnRedis } = await import('./run-doctor.ts')
  const { renderReport } = await import('./render-report.ts')
  const { engine, config, prompt, redis, admin, timeoutSeconds } = flags
  const reports: DoctorReport[] = []
  if (engine !== undefined || config !== undefined) {
    const signal = stopSignal()
    for (const options of await toOptions(flags)) reports.push(await runDoctor(options, signal))
  } else if (admin !== undefined || (prompt ?? redis) === undefined) {
    return command.error(
      "error: required option '--engine <url>' or '--config <file>' not specified; only '--prompt <file>' and '--redis <url>' do without",
    )
  } else {
    if (prompt !== undefined) reports.push(reportOnPrompt(prompt))
    if (redis !== undefined) reports.push(await reportOnRedis(redis, timeoutSeconds * 1000, stopSignal()))
  }
  process.exitCode = reports.some(({ fatal }) => fatal > 0) ? 1 : 0
  const columns = process.stdout.columns ?? 120
  const texts = reports.map((report) => (flags.json ? `${JSON.stringify(report)}\n` : renderReport(report, columns)))
  process.stdout.write(texts.join(flags.json ? '' : '\n'), (error) => {
    if (!error) process.exit()
  })
}

async function toOptions({ engine, config, ...flags }: DoctorFlags): Promise<DoctorOptions[]> {
  const common = {
    model: flags.model,
    prompt: flags.prompt,
    adminUrl: flags.admin,
    adminToken: readAdminToken(),
    timeoutMilliseconds: flags.timeoutSeconds * 1000,
  }
  if (config !== undefined) return (await import('./read-configured.ts')).readConfigured(config, common)
  const engineKey = process.env.REPRISE_ENGINE_API_KEY || undefined
  return [{ ...common, engine: engine!, engineKey, redisUrl: flags.redis }]
}

/** Aborts running requests on a signal, so that the engine does not keep computing a probe for nobody. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      controller.abort()
      process.stderr.write('error: stopped before the checks were done\n', () => process.exit(1))
    })
  }
  return controller.signal
}

function once(read: (text: string) => EngineSettings): (text: string, earlier?: EngineSettings) => EngineSettings {
  return (text, earlier) => {
    if (earlier !== undefined) throw new InvalidArgumentError('one engine is checked at a time; run doctor for each.')
    return argument(read)(text)
  }
}

/** Refuses what `serve` would refuse, except a missing kind: the checks determine it and what it means for events. */
function readCheckedEngine(text: string): EngineSettings {
  const engine = readEngine(text)
  const [fault] = findEngineFaults({ ...engine, kind: engine.kind ?? 'vllm' })
  if (fault) throw new ConfigError(`${fault.join(': ')}.`)
  return engine
}

function readPromptFile(file: string): { file: string; json: string } {
  try {
    return { file, json: readFileSync(file, 'utf8') }
  } catch (error) {
    throw new InvalidArgumentError(`cannot read '${file}': ${(error as Error).message}.`)
  }
}

function checkRedisUrl(url: string): string {
  try {
    readRedisUrl(url)
    return url
  } catch (error) {
    throw new ConfigError(`it ${(error as Error).message}.`)
  }
}

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && seconds > 0 && seconds <= 3600) return seconds
  throw new InvalidArgumentError(`'${text}' is no number of seconds between 0 and 3600.`)
}
