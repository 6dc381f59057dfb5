import type { Config } from './config/config.ts'

/** What an operator is to know whose tenants are not kept apart by their engine; undefined when they are. */
export function sharedCacheWarning({
  engines,
  keys,
  trustedPeers,
}: Pick<Config, 'engines' | 'keys' | 'trustedPeers'>): string | undefined {
  const names = engines.filter(({ kind }) => kind === 'sglang').map(({ id }) => id)
  const tenants = new Set(keys.records.map(({ tenant }) => tenant))
  const isOfOneTenant = keys.file === undefined && trustedPeers.length === 0 && tenants.size === 1
  if (names.length === 0 || isOfOneTenant) return undefined
  return (
    `SGLang (${names.join(', ')}) drops cache_salt on /v1/messages: callers of that API share its prefix cache, ` +
    'whoever they are. To keep tenants apart there, give each an engine of its own, or use vLLM.'
  )
}
