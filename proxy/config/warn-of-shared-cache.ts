import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import { promptApis, promptPaths } from '#engine-adapters/prompt-api.ts'
import type { Config } from './config.ts'

/** The warning for an operator whose engines do not keep tenants apart; undefined if they do. */
export function sharedCacheWarning({
  engines,
  keys,
  trustedPeers,
}: Pick<Config, 'engines' | 'keys' | 'trustedPeers'>): string | undefined {
  const tenants = new Set(keys.records.map(({ tenant }) => tenant))
  const isOfOneTenant = keys.file === undefined && trustedPeers.length === 0 && tenants.size === 1
  const leaky = engines.find(({ kind }) => dropsSalts(adapterFor(kind)))
  if (leaky === undefined || isOfOneTenant) return undefined
  const { advice, salts } = adapterFor(leaky.kind)
  const names = engines.filter(({ kind }) => kind === leaky.kind).map(({ id }) => id)
  const paths = promptApis.filter((api) => !salts.includes(api)).map((api) => promptPaths[api])
  return (
    `${advice.name} (${names.join(', ')}) drops cache_salt on ${paths.join(', ')}: callers of that API share its prefix ` +
    'cache, whoever they are. To keep tenants apart there, give each its own engine, or use vLLM.'
  )
}

/** Whether salts keep tenants apart on some of the engine's APIs, but not on all. */
function dropsSalts({ salts }: EngineAdapter): boolean {
  return salts.length > 0 && salts.length < promptApis.length
}
