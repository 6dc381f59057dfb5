import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { Command, CommanderError, Option } from 'commander'
import type { EmulatorOptions } from '#emulator/emulator.ts'
import { emulatorDefaults } from '#emulator/emulator-defaults.ts'
import { hashKey } from '#proxy/access/hash-key.ts'
import { addChunksCommand } from '#proxy/admin/chunks/command.ts'
import { addTemplatesCommand } from '#proxy/admin/templates-command.ts'
import { ConfigError, isSystemError } from '#proxy/common/errors.ts'
import { logWritten } from '#proxy/common/log.ts'
import { readVersion } from '#proxy/common/read-version.ts'
import { LiveConfig } from '#proxy/config/live-config.ts'
import { argument, atLeast, readCapacity, readListenAddress, readUrl } from '#proxy/config/read-arguments.ts'
import { checkConfig, noEngine } from '#proxy/config/read-files.ts'
import { configSchema } from '#proxy/config/schema/config-schema.ts'
import { addServeFlags, type ServeFlags } from '#proxy/config/sources/serve-flags.ts'
import { watchFiles } from '#proxy/config/sources/watch-files.ts'
import type { ListenAddress } from '#proxy/http/listener.ts'
import { addBatchCommand } from './batch/command.ts'
import { addCompareCommand } from './compare/command.ts'
import { addDoctorCommand } from './doctor/command.ts'
import { addReplayCommands } from './replay/commands.ts'

/** How long the last line may take to be written after a second signal. */
const lastLineMilliseconds = 250

interface EmulateFlags extends Omit<EmulatorOptions, 'host' | 'port' | 'reads' | 'reusing' | 'callbackUrl' | 'warn'> {
  readonly listen: ListenAddress
  readonly reader?: boolean
  readonly callback?: string
}

const program = new Command('reprise')
  .description('lets an LLM engine reuse the context it already holds')
  .version(readVersion())
  .exitOverride()
  // commander puts its suggestion on a separate line
  .configureOutput({ outputError: (text, write) => write(`${withRemedy(text.trim().replaceAll('\n', ' '))}\n`) })

addServeFlags(
  program.command('serve').description('the proxy, in front of the engines that --engine or the configuration names'),
).action(serve)

program
  .command('emulate')
  .description('the engine emulator alone: a real prefix cache, canned answers')
  .addOption(
    new Option('--listen <host:port>', 'where it listens')
      .argParser(argument(readListenAddress))
      .default(readListenAddress('127.0.0.1:8000'), '127.0.0.1:8000'),
  )
  .addOption(
    new Option('--kind <kind>', 'the engine whose cache and errors to emulate')
      .choices(['vllm', 'sglang'])
      .default(emulatorDefaults.kind),
  )
  .option('--capacity-tokens <n>', "cache size, or 'unlimited'", readCapacity, emulatorDefaults.capacityTokens)
  .option('--block-size <n>', 'tokens per page (default: 16 for vllm, 1 for sglang)', atLeast(1))
  .option(
    '--prefill-tokens-per-second <n>',
    'speed of the prefill',
    atLeast(1),
    emulatorDefaults.prefillTokensPerSecond,
  )
  .option(
    '--reader',
    'answers are made from the prompt, which can be scored: model reader-content quotes the text that shares most words ' +
      'with the question, reader-place gives the first words of each text in their order',
  )
  .option('--model <name>', 'the name of its model; requests for another are refused (default: any is answered)')
  .option('--callback <url>', 'where evictions are reported: http://HOST:PORT/v1/replicas/NAME', argument(readUrl))
  .action(emulate)

program
  .command('hash-key')
  .description('reads an API key from the standard input and prints its line for the keys file')
  .option('--tenant <name>', 'the tenant that the key belongs to', 'NAME')
  .action(({ tenant }: { tenant: string }) => hashKey(tenant))

program
  .command('check-config')
  .description('reads a configuration and the files that it names, as serve would, and says what is wrong')
  .argument('<file>', 'settings as YAML or JSON; REPRISE_… overrides it')
  .action((file: string) => {
    for (const warning of checkConfig({ file, environment: process.env })) process.stderr.write(`warning: ${warning}\n`)
    process.stderr.write(`${file} can be used.\n`)
  })

program
  .command('config-schema')
  .description('prints the JSON Schema of the configuration file')
  .action(() => {
    process.stdout.write(`${JSON.stringify(configSchema, null, 2)}\n`)
  })

addReplayCommands(program)
addDoctorCommand(program)
addChunksCommand(program)
addTemplatesCommand(program)
addCompareCommand(program)
addBatchCommand(program)

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // a reader that closes the pipe early (`| head`) is not an error
  if (error.code === 'EPIPE') process.exit()
  endUnheard(error)
})

try {
  await program.parseAsync(withoutHelpOfNothing(process.argv))
} catch (error) {
  // help may still have to be written
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else {
    if (!(error instanceof ConfigError || isSystemError(error))) throw error
    for (const line of error.message.split('\n')) process.stderr.write(`error: ${line}\n`)
    process.exit(error instanceof ConfigError ? error.exitCode : 1)
  }
}

/** Adds where to read on, if commander names what is wrong and has no suggestion. */
function withRemedy(line: string): string {
  if (!/^error: (unknown|missing|option .* missing$)/.test(line) || line.endsWith('?)')) return line
  const [, , name = ''] = process.argv
  return `${line}: see 'reprise ${isCommand(name) ? `${name} ` : ''}--help'`
}

/** Drops the wish for help with an unknown command: without it, commander suggests which command was meant. */
function withoutHelpOfNothing(argv: readonly string[]): string[] {
  const [name = '-'] = argv.slice(argv[2] === 'help' ? 3 : 2)
  if (name.startsWith('-') || name === 'help' || isCommand(name)) return [...argv]
  return argv.filter((argument) => !['help', '--help', '-h'].includes(argument))
}

function isCommand(name: string): boolean {
  return program.commands.some((command) => command.name() === name)
}

async function serve(flags: ServeFlags): Promise<void> {
  // requests wait for full garbage collections, and V8 runs one each time a slowly growing heap has grown by a tenth;
  // new space does not grow before all is loaded and compiled: it would only hold that, for good
  setFlagsFromString('--heap-growing-percent=60 --semi-space-growth-factor=1')
  const onHangUp = holdHangUps()
  const file = flags.config ?? (process.env.REPRISE_CONFIG || undefined)
  const live = new LiveConfig({ file, environment: process.env, flags })
  const hasEngines = live.config.engines.length > 0
  if (hasEngines && flags.emulate)
    throw new ConfigError('--emulate stands in for an engine, and one is named: leave out either of them.', 2)
  // canned text is an explicit choice
  if (!hasEngines && !flags.emulate) throw new ConfigError(noEngine, 2)
  // loaded late because it is most of the code: other commands, and usage errors of this one, do not need it
  const { startProxy } = await import('#proxy/start/main.ts')
  const proxy = await startProxy(live.config)
  const log = proxy.log.child({ version: readVersion() })
  onHangUp(() => live.reload(log, (config) => proxy.reload(config)))
  watchFiles(live.secretFiles, () => live.reload(log, (config) => proxy.reload(config, true), 'secrets'))
  stopOnSignals(
    () => proxy.close(),
    (signal) => proxy.log.warn({ version: readVersion(), signal }, 'stopped at once: requests in flight were cut off'),
  )
  announce({ url: proxy.url, admin_url: proxy.adminUrl })
  await proxy.opened
  if (live.config.mode !== 'off') {
    const { warmUp } = await import('#proxy/request/warm-up.ts')
    await warmUp()
  }
  setFlagsFromString('--semi-space-growth-factor=2')
}

/** From now on SIGHUP ends nothing. Returns what sets its handler; signals that came before are answered then. */
function holdHangUps(): (handler: () => void) => void {
  let isWaiting = false
  let handle = (): void => {
    isWaiting = true
  }
  process.on('SIGHUP', () => handle())
  return (handler) => {
    handle = handler
    if (isWaiting) handler()
  }
}

async function emulate({ listen, callback, reader, ...options }: EmulateFlags): Promise<void> {
  const callbackToken = process.env.REPRISE_CALLBACK_TOKEN?.trim() || undefined
  const { startEmulator } = await import('#emulator/emulator.ts')
  const emulator = await startEmulator({
    ...options,
    ...listen,
    ...(reader ? { reads: true } : {}),
    warn: (message) => process.stderr.write(`${message}\n`),
    ...(callback === undefined ? {} : { callbackUrl: callback }),
    ...(callbackToken === undefined ? {} : { callbackToken }),
  }).catch((error: Error) => {
    throw new ConfigError(`Cannot listen on ${listen.host}:${listen.port}: ${error.message}: choose another address.`)
  })
  stopOnSignals(() => emulator.close())
  announce({ url: emulator.url })
}

/** Who reads this may send a signal at once. */
function announce(addresses: Record<string, string>): void {
  process.stdout.write(`${JSON.stringify({ event: 'listening', ...addresses })}\n`, (error) => {
    if (error) endUnheard(error)
  })
}

/** Ends a command that nobody hears. */
function endUnheard({ message }: Error): never {
  process.stderr.write(`error: cannot write to the standard output: ${message}\n`)
  process.exit(1)
}

/** The first signal lets requests in flight finish; the second exits at once. */
function stopOnSignals(close: () => Promise<void>, onCut?: (signal: string) => void): void {
  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      signals += 1
      if (signals > 2) process.exit(1)
      if (signals === 2) {
        onCut?.(signal)
        void Promise.race([logWritten(), pause(lastLineMilliseconds)]).then(() => process.exit(1))
        return
      }
      close().then(
        async () => {
          await logWritten()
          process.exit(0)
        },
        (error: Error) => {
          process.stderr.write(`error: ${error.message}\n`)
          process.exit(1)
        },
      )
    })
  }
}
