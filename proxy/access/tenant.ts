import { createHmac, hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What tells tenants apart: the API key shown, the header of a trusted peer alone, or nothing: all are one. */
export type TenantSource = 'key' | 'header' | 'none'

/** Who may share cache with whom: a hash of the caller's API key, `default` without one. */
export function tenantOf(headers: IncomingHttpHeaders): string {
  const key = headers.authorization ?? headers['x-api-key']
  if (key === undefined || key === '') return 'default'
  return hash('sha256', String(key), 'base64url').slice(0, 22)
}

/** What logs call a tenant: as its keys or its gateway name it; one that is known by the bearer it shows, by a hash of that. */
export function tenantName(tenant: string): string {
  if (tenant === 'default') return tenant
  const [, name] = /^(?:key|header):(.*)$/s.exec(tenant) ?? []
  return name ?? hash('sha256', tenant, 'base64url').slice(0, 12)
}

/**
 * The salt that keeps a tenant's cache apart in the engine. A salt of the client's own is folded in, each part with
 * its length in front, so that no client can choose another tenant's salt. With a secret none can compute it either,
 * for routes of the engine that are passed on as they come.
 */
export function cacheSaltOf(tenant: string, clientSalt: unknown, secret?: string): string {
  const own = typeof clientSalt === 'string' ? clientSalt : ''
  const parts = `${tenant.length}:${tenant}${own.length}:${own}`
  return secret === undefined
    ? hash('sha256', parts, 'base64url')
    : createHmac('sha256', secret).update(parts).digest('base64url')
}
