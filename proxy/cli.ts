import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { emulatorDefaults, startEmulator } from '#engine-adapters/emulator/emulator.ts'
import { addReplayCommands } from '#replay/commands.ts'
import { ReplayError } from '#replay/replay-error.ts'
import {
  ConfigError,
  type EngineConfig,
  type ListenAddress,
  readEngine,
  readListenAddress,
  readNumber,
  readUrl,
} from './config.ts'
import type { Mode } from './decide.ts'
import { startProxy } from './main.ts'

interface ServeOptions {
  engine?: EngineConfig
  listen: ListenAddress
  adminListen: ListenAddress
  mode: Mode
  ordering: 'reprise' | 'paper'
  maxDisplacement?: number
  bodyLimitBytes: number
  groupWindowMs: number
  drainSeconds: number
  logLevel: string
}

interface EmulateOptions {
  listen: ListenAddress
  kind: 'vllm' | 'sglang'
  capacityTokens: number
  blockSize?: number
  prefillTokensPerSecond: number
  callback?: string
}

const program = new Command('reprise')
  .description('lets an LLM engine reuse the context it already holds')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text) })

program
  .command('serve')
  .description('the proxy; without --engine in front of an embedded engine emulator')
  .option('--engine <url[,kind=…][,id=…]>', 'the engine: kind vllm, sglang or openai', once(argument(readEngine)))
  .addOption(address('--listen', 'where applications connect', '127.0.0.1:8080'))
  .addOption(address('--admin-listen', 'control plane', '127.0.0.1:9090'))
  .addOption(
    new Option('--mode <mode>', 'rewrite, only compute, or neither').choices(['on', 'shadow', 'off']).default('on'),
  )
  .addOption(
    new Option('--ordering <policy>', 'ours, or as the paper has it').choices(['reprise', 'paper']).default('reprise'),
  )
  .option('--max-displacement <n>', 'furthest a block may stand from its rank (default: anywhere)', atLeast(0))
  .option('--body-limit-bytes <n>', 'largest request body', atLeast(1), 64 * 1024 * 1024)
  .option('--group-window-ms <n>', 'longest wait for requests that share, while the engine is busy', atLeast(0), 20)
  .option('--drain-seconds <n>', 'how long requests in flight may go on after SIGTERM', atLeast(0), 30)
  .addOption(
    new Option('--log-level <level>', 'what is logged').choices(['debug', 'info', 'warn', 'error']).default('info'),
  )
  .action(serve)

program
  .command('emulate')
  .description('the engine emulator alone: a real prefix cache, canned answers')
  .addOption(address('--listen', 'where it listens', '127.0.0.1:8000'))
  .addOption(
    new Option('--kind <kind>', 'whose cache and errors').choices(['vllm', 'sglang']).default(emulatorDefaults.kind),
  )
  .option(
    '--capacity-tokens <n>',
    "cache size, or 'unlimited'",
    argument(readCapacity),
    emulatorDefaults.capacityTokens,
  )
  .option('--block-size <n>', 'tokens a page (default: 16 for vllm, 1 for sglang)', atLeast(1))
  .option(
    '--prefill-tokens-per-second <n>',
    'speed of the prefill',
    atLeast(1),
    emulatorDefaults.prefillTokensPerSecond,
  )
  .option('--callback <url>', 'where evictions are reported: http://HOST:PORT/v1/replicas/NAME', argument(readUrl))
  .action(emulate)

addReplayCommands(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2)
  if (!(error instanceof ConfigError || error instanceof ReplayError)) throw error
  process.stderr.write(`error: ${error.message}\n`)
  process.exit(error instanceof ReplayError ? error.exitCode : 1)
}

async function serve(options: ServeOptions): Promise<void> {
  const { engine, groupWindowMs, ...rest } = options
  if (rest.ordering === 'paper' && rest.maxDisplacement !== undefined)
    program.error("error: --max-displacement bounds the ordering 'reprise': the paper's knows no bound")
  const proxy = await startProxy({
    ...rest,
    engine,
    groupWindowMilliseconds: groupWindowMs,
    adminToken: process.env.REPRISE_ADMIN_TOKEN,
  })
  if (proxy.emulatorUrl) {
    process.stderr.write(
      `No --engine given: using the embedded engine emulator at ${proxy.emulatorUrl}, which answers with canned text.\n`,
    )
  }
  announce({ url: proxy.url, admin_url: proxy.adminUrl })
  stopOnSignals(() => proxy.close())
}

async function emulate({ listen, callback, ...options }: EmulateOptions): Promise<void> {
  const emulator = await startEmulator({
    ...options,
    ...listen,
    warn: (message) => process.stderr.write(`${message}\n`),
    ...(callback === undefined ? {} : { callbackUrl: callback }),
    ...(process.env.REPRISE_CALLBACK_TOKEN === undefined ? {} : { callbackToken: process.env.REPRISE_CALLBACK_TOKEN }),
  }).catch((error: Error) => {
    throw new ConfigError(`Cannot listen on ${listen.host}:${listen.port}: ${error.message}.`)
  })
  announce({ url: emulator.url })
  stopOnSignals(() => emulator.close())
}

function announce(addresses: Record<string, string>): void {
  process.stdout.write(`${JSON.stringify({ event: 'listening', ...addresses })}\n`)
}

/** The first signal lets requests in flight end; the second does not. */
function stopOnSignals(close: () => Promise<void>): void {
  let isClosing = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isClosing) process.exit(1)
      isClosing = true
      close().then(
        () => process.exit(0),
        (error: Error) => {
          process.stderr.write(`error: ${error.message}\n`)
          process.exit(1)
        },
      )
    })
  }
}

function address(flag: string, description: string, standard: string): Option {
  return new Option(`${flag} <host:port>`, description)
    .argParser(argument(readListenAddress))
    .default(readListenAddress(standard), standard)
}

function argument<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text)
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }
}

function atLeast(least: number): (text: string) => number {
  return argument((text) => readNumber(text, least))
}

/** Refuses an option that is given a second time. */
function once<T>(read: (text: string) => T): (text: string, earlier: T | undefined) => T {
  return (text, earlier) => {
    if (earlier !== undefined) throw new InvalidArgumentError('one engine is served so far; start a proxy for each.')
    return read(text)
  }
}

function readCapacity(text: string): number {
  return text === 'unlimited' ? Number.POSITIVE_INFINITY : readNumber(text, 1)
}
