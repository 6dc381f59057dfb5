import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { ProxyError } from '../errors.ts'
import { tenantOf } from '../tenant.ts'
import type { ApiKeys, KeyEntry } from './api-keys.ts'
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
}

export interface TenancyOptions {
  readonly keys: ApiKeys
  /** addresses and ranges of gateways that may name the tenant */
  readonly trustedPeers: readonly string[]
}

const longestName = 256

/**
 * Tenants by API key, or by the header of a gateway that is trusted to name them. Names are marked by where they come
 * from: none of one kind is ever one of another.
 */
export function createTenancy({ keys, trustedPeers }: TenancyOptions): Tenancy {
  const peers = readPeers(trustedPeers)
  return {
    identify: ({ headers, socket }) => {
      const key = keys.isOpen ? undefined : authorize(keys, headers)
      const named = headers['x-reprise-tenant']
      if (typeof named === 'string' && named !== '' && peers.has(socket.remoteAddress))
        return { tenant: `header:${checkName(named)}`, key }
      return { tenant: key ? `key:${key.tenant}` : tenantOf(headers), key }
    },
  }
}

function authorize(keys: ApiKeys, headers: IncomingHttpHeaders): KeyEntry {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const named = headers['x-api-key']
  const key = keys.find(bearer) ?? keys.find(typeof named === 'string' ? named : undefined)
  if (key) return key
  const message =
    bearer === undefined && named === undefined
      ? 'An API key is needed: send it as "authorization: Bearer …" or "x-api-key: …".'
      : 'The API key is not known here or has expired: ask for another.'
  throw new ProxyError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
}

function checkName(name: string): string {
  if (name.length <= longestName) return name
  throw new ProxyError(
    'invalid_body',
    `x-reprise-tenant has ${name.length} characters: at most ${longestName} are taken.`,
  )
}
