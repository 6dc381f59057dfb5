import { type Command, Option } from 'commander'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import type { EngineSettings } from '../config.ts'
import { writePath } from '../faults/write-fault.ts'
import { readEngine, readListenAddress } from '../read-arguments.ts'
import { configSchema } from '../schema/config-schema.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'
import { setAt, valueAt } from '../setting-values.ts'
import { argument } from './command-arguments.ts'
import type { SettingsLayer } from './read-settings-file.ts'

/** The flags of `reprise serve` as given; the defaults come from the schema. */
export interface ServeFlags {
  config?: string
  engine?: EngineSettings[]
  /** canned text instead of an engine */
  emulate?: boolean
  [flag: string]: unknown
}

/** The setting of each flag, by commander's name for the flag. */
const settingOf: Readonly<Record<string, { flag: string; path: readonly string[] }>> = {
  engine: { flag: '--engine', path: ['engines'] },
  listen: { flag: '--listen', path: ['listen'] },
  adminListen: { flag: '--admin-listen', path: ['admin', 'listen'] },
  mode: { flag: '--mode', path: ['mode'] },
  redis: { flag: '--redis', path: ['redis', 'url'] },
  record: { flag: '--record', path: ['record', 'folder'] },
}

export function addServeFlags(command: Command): Command {
  const add = (flag: string, value: string, description: string, read?: (text: string) => unknown): void => {
    const option = new Option(`${flag} <${value}>`, `${description}${standardOf(flag)}`)
    command.addOption(read ? option.argParser(argument(read)) : option)
  }
  const isAddress = (text: string): string => {
    readListenAddress(text)
    return text
  }
  add('--config', 'file', 'settings as YAML or JSON (REPRISE_CONFIG); REPRISE_… and flags override it')
  command.option(
    '--engine <url[,kind=…][,id=…]>',
    `an engine and its kind (${engineKinds.join(', ')}); repeat for each engine`,
    (text: string, earlier: EngineSettings[] = []) => [...earlier, argument(readEngine)(text)],
  )
  command.option('--emulate', 'answers with canned text from an embedded engine emulator instead of an engine')
  add('--listen', 'host:port', 'where applications connect', isAddress)
  add('--admin-listen', 'host:port', 'control plane', isAddress)
  command.addOption(
    new Option(
      '--mode <mode>',
      'what may be moved (default: auto if an engine can score prompts, otherwise ask)',
    ).choices(['auto', 'ask', 'on', 'shadow', 'off']),
  )
  add('--redis', 'url', 'keeps state across restarts and shares it between proxies (default: only in memory)')
  add('--record', 'folder', 'writes a trace of the requests, for reprise replay (default: none)')
  return command
}

/** The settings that were given as flags. */
export function toFlagLayer(flags: ServeFlags): SettingsLayer {
  const settings: Record<string, unknown> = {}
  for (const [name, { path }] of Object.entries(settingOf))
    if (flags[name] !== undefined) setAt(settings, path, flags[name])
  const locate: SettingsLayer['locate'] = (path) =>
    Object.values(settingOf).find((setting) => writePath(path.slice(0, setting.path.length)) === setting.path.join('.'))
      ?.flag ?? 'the command line'
  return { settings, locate, isCommandLine: true }
}

function standardOf(flag: string): string {
  const path = Object.values(settingOf).find((setting) => setting.flag === flag)?.path
  const standard =
    path &&
    (
      valueAt(
        configSchema,
        path.flatMap((key) => ['properties', key]),
      ) as SettingSchema
    ).default
  return standard === undefined ? '' : ` (default: ${JSON.stringify(standard)})`
}
