import { createHmac, hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** What distinguishes tenants: the presented API key, only a trusted peer's header, or nothing: all are one tenant. */
export type TenantSource = 'key' | 'header' | 'none'

/** The tenant of all callers that nothing distinguishes. */
export const defaultTenant = 'default'

/** The tenant, whose callers may share cache: a hash of the caller's API key, or `default` without one. */
export function tenantOf(headers: IncomingHttpHeaders): string {
  const key = headers.authorization ?? headers['x-api-key']
  if (key === undefined || key === '') return defaultTenant
  return hash('sha256', String(key), 'base64url').slice(0, 22)
}

/** The name of a tenant in logs: as its keys or its gateway name it; if only its bearer is known, a hash of that. */
export function tenantName(tenant: string): string {
  if (tenant === defaultTenant) return tenant
  const [, name] = /^(?:key|header):(.*)$/s.exec(tenant) ?? []
  return name ?? hash('sha256', tenant, 'base64url').slice(0, 12)
}

/**
 * The salt that separates a tenant's cache in the engine. It includes the client's own salt, with each part's length
 * before it, so that no client can choose another tenant's salt. With a secret, no client can compute it either, which
 * matters for engine routes that are passed through unchanged.
 */
export function cacheSaltOf(tenant: string, clientSalt: unknown, secret?: string): string {
  const own = typeof clientSalt === 'string' ? clientSalt : ''
  const parts = `${tenant.length}:${tenant}${own.length}:${own}`
  return keyedDigest(parts, secret)
}

/** Returns a digest of a text. With a secret, nobody else can compute it. */
export function keyedDigest(text: string, secret: string | undefined): string {
  return secret === undefined
    ? hash('sha256', text, 'base64url')
    : createHmac('sha256', secret).update(text).digest('base64url')
}
