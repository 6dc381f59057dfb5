import { type Command, Option } from 'commander'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import type { EngineSettings } from '../config.ts'
import { type SettingPath, writePath } from '../faults/check-settings.ts'
import { argument, readEngine } from '../read-arguments.ts'
import { configSchema } from '../schema/config-schema.ts'
import type { SettingSchema } from '../schema/setting-schema.ts'
import { setAt } from '../setting-values.ts'
import type { SettingsLayer } from './read-settings-file.ts'

/** The flags of `reprise serve` as given; the defaults come from the schema. */
export interface ServeFlags {
  config?: string
  engine?: EngineSettings[]
  /** canned text instead of an engine */
  emulate?: boolean
  [flag: string]: unknown
}

/** The flags of settings, by the path of each; what these may be is checked with the other settings. */
const flags: Readonly<Record<string, Option>> = {
  engines: new Option(
    '--engine <url[,kind=…][,id=…]>',
    `an engine and its kind (${engineKinds.join(', ')}); repeat for each engine`,
  ).argParser((text, earlier: EngineSettings[] = []) => [...earlier, argument(readEngine)(text)]),
  listen: new Option('--listen <host:port>', `where applications connect${standardOf(configSchema, 'listen')}`),
  'admin.listen': new Option(
    '--admin-listen <host:port>',
    `control plane${standardOf(configSchema.properties!.admin!, 'listen')}`,
  ),
  mode: new Option(
    '--mode <mode>',
    'what may be moved (default: auto if an engine can score prompts, otherwise ask)',
  ).choices(['auto', 'ask', 'on', 'shadow', 'off']),
  'redis.url': new Option(
    '--redis <url>',
    'keeps state across restarts and shares it between proxies (default: only in memory)',
  ),
  'record.folder': new Option(
    '--record <folder>',
    'writes a trace of the requests, for reprise replay (default: none)',
  ),
}

export function addServeFlags(command: Command): Command {
  command.option('--config <file>', 'settings as YAML or JSON (REPRISE_CONFIG); REPRISE_… and flags override it')
  command.option('--emulate', 'answers with canned text from an embedded engine emulator instead of an engine')
  for (const option of Object.values(flags)) command.addOption(option)
  return command
}

export function toFlagLayer(given: ServeFlags): SettingsLayer {
  const settings: Record<string, unknown> = {}
  for (const [path, option] of Object.entries(flags)) {
    const value = given[option.attributeName()]
    if (value !== undefined) setAt(settings, path.split('.'), value)
  }
  const flagOf = (at: SettingPath): string | undefined =>
    Object.entries(flags).find(([path]) => writePath(at.slice(0, path.split('.').length)) === path)?.[1].long
  return { settings, locate: (at) => flagOf(at) ?? 'the command line', isCommandLine: true }
}

function standardOf({ properties }: SettingSchema, setting: string): string {
  return ` (default: ${JSON.stringify(properties![setting]!.default)})`
}
