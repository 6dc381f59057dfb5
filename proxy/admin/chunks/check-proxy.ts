import type { Json } from '#engine-adapters/json-object.ts'
import { defaultTenant, tenantName } from '../../access/tenant.ts'
import { ConfigError, statusOf } from '../../common/errors.ts'
import { askAdmin, whyUnreached } from '../../config/ask-admin.ts'
import { endlessHops } from '../../http/forwarded-headers.ts'

/** For whom a proxy is to have something computed. */
interface Target {
  /** where applications connect */
  readonly proxy: string
  readonly admin: string
  /** the API key that is sent */
  readonly key: string | undefined
  /** the tenant that is meant; undefined: the one of the key */
  readonly tenant: string | undefined
}

/**
 * Throws a ConfigError if what is computed through `proxy` would be found by nobody: that is an engine's own URL, or its
 * requests do not count as those of the tenant.
 */
export async function checkProxy(target: Target): Promise<void> {
  await checkIsProxy(target.proxy)
  if (target.tenant !== undefined) await checkTenant(target, target.tenant)
}

/** Only a proxy refuses a request that seems to go round in a circle. */
async function checkIsProxy(proxy: string): Promise<void> {
  const url = new URL(proxy)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/models`
  const answer = await fetch(url, { headers: endlessHops }).catch((error: Error) => {
    throw new ConfigError(`--proxy: ${proxy} cannot be reached (${whyUnreached(error)}). Nothing was registered.`)
  })
  await answer.text()
  if (answer.status === statusOf.loop_detected) return
  throw new ConfigError(
    `--proxy: ${proxy} is no reprise proxy, by its answer (status ${answer.status}; an engine's own URL?): what is computed there, no request that comes through the proxy finds. Name the URL at which applications reach the proxy. Nothing was registered.`,
    2,
  )
}

async function checkTenant({ admin, key }: Target, tenant: string): Promise<void> {
  const { tenants } = await askAdmin<{ tenants: Json }>(admin, '/v1/mirror', 'GET')
  // it takes the tenant from the header
  if (tenants.from !== 'none' && tenants.trusts_caller === true) return
  const own = await tenantOfKey(admin, key)
  if (own === tenant) return
  const why =
    tenants.from === 'none'
      ? 'all are one tenant here (tenants.from is none): leave --tenant out'
      : `set REPRISE_API_KEY to a key of '${tenant}', or list this machine in tenants.trusted_peers`
  const whose = key === undefined ? 'Without REPRISE_API_KEY, requests' : 'Requests with this REPRISE_API_KEY'
  throw new ConfigError(
    `--tenant: ${whose} are those of '${own}', not of '${tenant}': ${why}. Nothing was registered.`,
    2,
  )
}

/** Returns the name of the tenant whose requests with this key are. */
async function tenantOfKey(admin: string, key: string | undefined): Promise<string> {
  if (key === undefined) return defaultTenant
  const body = JSON.stringify({ prompt: '' })
  const headers = { 'x-reprise-key': key }
  const { tenant } = await askAdmin<{ tenant: string }>(admin, '/v1/explain?api=completions', 'POST', body, headers)
  return tenantName(tenant)
}
