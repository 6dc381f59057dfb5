import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { ProxyError } from '../errors.ts'
import type { ApiKeys, KeyEntry } from './api-keys.ts'
import { type TenantSource, tenantName, tenantOf } from './tenant.ts'
import { readPeers } from './trusted-peers.ts'

/** Whose request it is. */
export interface Caller {
  /** who may share cache with it */
  readonly tenant: string
  /** the API key that was shown, where keys are asked for */
  readonly key: KeyEntry | undefined
}

/** Says whose a request is. */
export interface Tenancy {
  /** Throws `unauthorized` when no valid key is shown where one is asked for. */
  identify(incoming: Pick<IncomingMessage, 'headers' | 'socket'>): Caller
  /**
   * Whose request it would be, with no need for a key: for a control plane that has let its caller in already. It may name
   * a tenant (`x-reprise-tenant`), also by the name that logs gave it, or show a key that is not its own (`x-reprise-key`).
   * Throws `invalid_body` when keys are configured and this is none of them.
   */
  suppose(incoming: Pick<IncomingMessage, 'headers' | 'socket'>): Caller
}

export interface TenancyOptions {
  readonly keys: ApiKeys
  /** addresses and ranges of gateways that may name the tenant */
  readonly trustedPeers: readonly string[]
  /** by default: the key */
  readonly from?: TenantSource
}

const longestName = 256
/** So many tenants, those that came last, are known to the control plane by the name that logs give them. */
const mostNamed = 10_000
/** All whom nothing tells apart. */
const defaultTenant = 'default'

/**
 * Tenants by API key, or by the header of a gateway that is trusted to name them. Names are marked by where they come
 * from: none of one kind is ever one of another.
 */
export function createTenancy({ keys, trustedPeers, from = 'key' }: TenancyOptions): Tenancy {
  const peers = readPeers(trustedPeers)
  const toCaller = ({ headers, socket }: Parameters<Tenancy['identify']>[0], key: KeyEntry | undefined): Caller => {
    if (from === 'none') return { tenant: defaultTenant, key }
    const named = headers['x-reprise-tenant']
    if (typeof named === 'string' && named !== '' && peers.has(socket.remoteAddress))
      return { tenant: `header:${checkName(named)}`, key }
    if (key) return { tenant: `key:${key.tenant}`, key }
    return { tenant: from === 'header' ? defaultTenant : tenantOf(headers), key }
  }
  const namesByTenant = new LRUCache<string, string>({ max: mostNamed })
  const toNamed = (name: string): string => {
    if (from === 'none') return defaultTenant
    if (keys.entries.some(({ tenant }) => tenant === name)) return `key:${name}`
    const known = [...namesByTenant.entries()].find(([, logged]) => logged === name)
    return known?.[0] ?? `header:${checkName(name)}`
  }
  const note = (caller: Caller): Caller => {
    const { tenant } = caller
    // each request comes through here, and a name takes a digest
    if (namesByTenant.get(tenant) === undefined) namesByTenant.set(tenant, tenantName(tenant))
    return caller
  }
  return {
    identify: (incoming) => note(toCaller(incoming, keys.isOpen ? undefined : authorize(keys, incoming.headers))),
    suppose: ({ headers, socket }) => {
      const { 'x-reprise-tenant': named, 'x-reprise-key': shown } = headers
      if (typeof named === 'string' && named !== '') return { tenant: toNamed(named), key: undefined }
      if (typeof shown !== 'string' || shown === '') return toCaller({ headers, socket }, findKey(keys, headers))
      const asked = { authorization: `Bearer ${shown}` }
      const key = findKey(keys, asked)
      if (!key && !keys.isOpen) throw unknownKey()
      return toCaller({ headers: asked, socket }, key)
    },
  }
}

function authorize(keys: ApiKeys, headers: IncomingHttpHeaders): KeyEntry {
  const key = findKey(keys, headers)
  if (key) return key
  const isMissing = headers['x-api-key'] === undefined && bearerOf(headers) === undefined
  const message = isMissing
    ? 'An API key is needed: send it as "authorization: Bearer …" or "x-api-key: …".'
    : 'The API key is not known here or has expired: ask for another.'
  throw new ProxyError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
}

function unknownKey(): ProxyError {
  const message =
    'x-reprise-key is no API key that is known here: send one of the configured keys, or x-reprise-tenant with the name of a tenant.'
  return new ProxyError('invalid_body', message)
}

function findKey(keys: ApiKeys, headers: IncomingHttpHeaders): KeyEntry | undefined {
  const named = headers['x-api-key']
  return keys.find(bearerOf(headers)) ?? keys.find(typeof named === 'string' ? named : undefined)
}

function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function checkName(name: string): string {
  if (name.length <= longestName) return name
  throw new ProxyError(
    'invalid_body',
    `x-reprise-tenant has ${name.length} characters: at most ${longestName} are taken.`,
  )
}
