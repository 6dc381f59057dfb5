import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import { promptApis } from '#engine-adapters/prompt-api.ts'
import type { Config } from './config.ts'

/** The warning for an operator whose engines do not keep tenants apart; undefined if they do. */
export function sharedCacheWarning({
  engines,
  keys,
  trustedPeers,
}: Pick<Config, 'engines' | 'keys' | 'trustedPeers'>): string | undefined {
  const names = engines.filter(({ kind }) => dropsSalts(adapterFor(kind))).map(({ id }) => id)
  const tenants = new Set(keys.records.map(({ tenant }) => tenant))
  const isOfOneTenant = keys.file === undefined && trustedPeers.length === 0 && tenants.size === 1
  if (names.length === 0 || isOfOneTenant) return undefined
  return (
    `SGLang (${names.join(', ')}) drops cache_salt on /v1/messages: callers of that API share its prefix cache, ` +
    'whoever they are. To keep tenants apart there, give each an engine of its own, or use vLLM.'
  )
}

/** Whether salts keep tenants apart on some of the engine's APIs, but not on all. */
function dropsSalts({ salts }: EngineAdapter): boolean {
  return salts.length > 0 && salts.length < promptApis.length
}
