import { createHmac, hash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { ConfigError, ProxyError } from '../common/errors.ts'
import type { ApiKeys, KeyEntry } from './api-keys.ts'

/** Who sent a request. */
export interface Caller {
  /** callers of the same tenant may share cache */
  readonly tenant: string
  /** the presented API key, if keys are required */
  readonly key: KeyEntry | undefined
  /** a gateway that is trusted to name the tenant, and so its users */
  readonly isTrusted?: boolean
}

interface TenancyOptions {
  readonly keys: ApiKeys
  /** addresses and ranges of gateways that may name the tenant */
  readonly trustedPeers: readonly string[]
  /** by default: the key */
  readonly from?: TenantSource
}

const longestName = 256
/** The control plane can resolve the names in logs of this many most recent tenants. */
const mostNamed = 10_000

type Incoming = Pick<IncomingMessage, 'headers' | 'socket'>

/**
 * Determines who sent a request: tenants by API key, or by the header of a gateway that is trusted to name them. A
 * prefix marks the source of a name, so that names from different sources never coincide.
 */
export class Tenancy {
  readonly #keys: ApiKeys
  readonly #isPeer: ReturnType<typeof readPeers>
  readonly #from: TenantSource
  readonly #namesByTenant = new LRUCache<string, string>({ max: mostNamed })

  /** Throws a ConfigError for peers that are no addresses. */
  constructor({ keys, trustedPeers, from = 'key' }: TenancyOptions) {
    this.#keys = keys
    this.#isPeer = readPeers(trustedPeers)
    this.#from = from
  }

  /** Throws `unauthorized` if a key is required and no valid one is presented. */
  identify(incoming: Incoming): Caller {
    const caller = this.#toCaller(incoming, this.#keys.isOpen ? undefined : authorize(this.#keys, incoming.headers))
    const { tenant } = caller
    // every request comes through here, and computing a name takes a digest
    if (this.#namesByTenant.get(tenant) === undefined) this.#namesByTenant.set(tenant, tenantName(tenant))
    return caller
  }

  /**
   * Determines whose request this would be, without requiring a key: for the control plane, which has already admitted
   * its caller. The caller may name a tenant (`x-reprise-tenant`), also by its name in logs, or pass someone else's key
   * (`x-reprise-key`). Throws `invalid_body` if keys are configured and this is none of them.
   */
  suppose({ headers, socket }: Incoming): Caller {
    const { 'x-reprise-tenant': named, 'x-reprise-key': shown } = headers
    if (typeof named === 'string' && named !== '') return { tenant: this.#toNamed(named), key: undefined }
    if (typeof shown !== 'string' || shown === '')
      return this.#toCaller({ headers, socket }, findKey(this.#keys, headers))
    const asked = { authorization: `Bearer ${shown}` }
    const key = findKey(this.#keys, asked)
    if (!key && !this.#keys.isOpen) throw new ProxyError('invalid_body', unknownKey)
    return this.#toCaller({ headers: asked, socket }, key)
  }

  /** Whether who connects from there may name the tenant. */
  trusts({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#isPeer(socket.remoteAddress)
  }

  #toCaller({ headers, socket }: Incoming, key: KeyEntry | undefined): Caller {
    const isTrusted = this.trusts({ socket })
    return { tenant: this.#toTenant(headers, key, isTrusted), key, ...(isTrusted && { isTrusted }) }
  }

  #toTenant(headers: IncomingHttpHeaders, key: KeyEntry | undefined, isTrusted: boolean): string {
    if (this.#from === 'none') return defaultTenant
    const named = headers['x-reprise-tenant']
    if (typeof named === 'string' && named !== '' && isTrusted) return `header:${checkName(named)}`
    if (key) return `key:${key.tenant}`
    return this.#from === 'header' ? defaultTenant : tenantOf(headers)
  }

  #toNamed(name: string): string {
    if (this.#from === 'none') return defaultTenant
    if (this.#keys.entries.some(({ tenant }) => tenant === name)) return `key:${name}`
    const known = [...this.#namesByTenant.entries()].find(([, logged]) => logged === name)
    return known?.[0] ?? `header:${checkName(name)}`
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

const unknownKey =
  'x-reprise-key is no API key that is known here: send one of the configured keys, or x-reprise-tenant with the name of a tenant.'

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

/** Reads addresses and ranges, as in 10.0.0.0/8, ::1 or fd00::/8; throws a ConfigError for anything else. */
export function readPeers(ranges: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const range of ranges) addRange(list, range)
  return (address) => {
    if (address === undefined || ranges.length === 0) return false
    // IPv4 over an IPv6 socket is plain IPv4, and a link-local address has no zone
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}

function addRange(list: BlockList, range: string): void {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range.trim()) ?? []
  const version = isIP(address)
  const longest = version === 4 ? 32 : 128
  if (version === 0 || Number(bits ?? 0) > longest)
    throw new ConfigError(`'${range}' is neither an address nor a range: write for example 10.0.0.0/8 or ::1`)
  list.addSubnet(address, Number(bits ?? longest), version === 4 ? 'ipv4' : 'ipv6')
}

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
