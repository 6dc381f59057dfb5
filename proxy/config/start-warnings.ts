import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { promptApis, promptPaths } from '#engine-adapters/prompt-api.ts'
import type { Log } from '../common/log.ts'
import type { Config } from './config.ts'
import { readListenAddress } from './read-arguments.ts'

type Warned = Pick<Config, 'engines' | 'keys' | 'tenants' | 'admin'>

/** What an operator should know at startup, one line each. None of it keeps the proxy from running. */
export function findWarnings(config: Warned): string[] {
  const { engines, keys, tenants, admin } = config
  const { host } = readListenAddress(admin.listen)
  const isLoopback = /^(127\.|localhost$|\[?::1\]?$)/.test(host)
  const hasKeys = keys.file !== undefined
  const warnings = [
    engines.length === 0 && emulatorWarning,
    tenants.from === 'key' && !hasKeys && bearersWarning,
    hasKeys && tenants.salt_secret === undefined && saltWarning,
    admin.token === undefined && !isLoopback && tokenWarning(host),
  ]
  return warnings.filter((warning) => typeof warning === 'string')
}

/** Returns what logs those of the current warnings that were not among the ones before. */
export function warnOnce(log: Pick<Log, 'warn'>): (warnings: readonly string[]) => void {
  let before: readonly string[] = []
  return (warnings) => {
    for (const warning of warnings) if (!before.includes(warning)) log.warn(warning)
    before = warnings
  }
}

/** The warning for a proxy without keys, given at startup and by doctor. */
export const bearersWarning: string =
  'No API keys are configured: whatever bearer a client shows is a tenant of its own. An engine that keeps tenants apart computes ' +
  'equal prompts under two bearers twice. Where all may share: tenants.from: none. Else configure keys, or tenants.from: header.'

/** The warning for a proxy without engines. */
export const emulatorWarning: string =
  'There is no engine, but the embedded engine emulator, which answers with canned text.'

const saltWarning =
  'keys are configured without tenants.salt_secret: who knows the name of a tenant can compute its cache_salt. Set it to a long ' +
  'random text, the same for all proxies of an engine.'

/** What an operator should know of engines that do not keep tenants apart, at startup and when they change. */
export function findEngineWarnings({ engines, tenants }: Pick<Config, 'engines' | 'tenants'>): readonly string[] {
  if (tenants.from === 'none') return []
  return [sharedCacheWarning(engines), saltlessWarning(engines)].filter((warning) => warning !== undefined)
}

/** The warning of engines that are not told tenants; undefined if all are. */
function saltlessWarning(engines: Config['engines']): string | undefined {
  const saltless = engines.filter(({ kind }) => adapterFor(kind).salts.length === 0).map(({ id }) => id)
  if (saltless.length === 0) return undefined
  return (
    `Engines of kind openai get no cache_salt (${saltless.join(', ')}): all tenants share what they cache, and can measure what ` +
    'others sent. If it is a vLLM or SGLang, say so: kind=vllm or kind=sglang.'
  )
}

function tokenWarning(host: string): string {
  return `admin.listen is ${host}, and there is no admin.token: callers from other machines are refused. Set REPRISE_ADMIN_TOKEN.`
}

/** The warning of engines that keep tenants apart on some of their APIs only; undefined if there is none. */
function sharedCacheWarning(engines: Config['engines']): string | undefined {
  const leaky = engines.find(({ kind }) => {
    const told = adapterFor(kind).salts.length
    return told > 0 && told < promptApis.length
  })
  if (leaky === undefined) return undefined
  const { advice, salts } = adapterFor(leaky.kind)
  const names = engines.filter(({ kind }) => kind === leaky.kind).map(({ id }) => id)
  const paths = promptApis.filter((api) => !salts.includes(api)).map((api) => promptPaths[api])
  return (
    `${advice.name} (${names.join(', ')}) drops cache_salt on ${paths.join(', ')}: callers of that API share its prefix ` +
    'cache, whoever they are. To keep tenants apart there, give each its own engine, or use vLLM.'
  )
}
