import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hashOf } from './hash-key.ts'

const loopback = /^(127\.|::1$|::ffff:127\.)/

/**
 * Whether a caller may use the control plane: it presents the token, or it is on this machine and is not a foreign web
 * page. A browser on this machine would let such a page send requests to us; they have a foreign origin, or a host name
 * that was made to resolve to this machine.
 */
export function mayControl(
  address: string | undefined,
  { authorization, host, origin }: Pick<IncomingHttpHeaders, 'authorization' | 'host' | 'origin'>,
  token: string | undefined,
): boolean {
  const shown = /^Bearer +(.*)$/i.exec(authorization ?? '')?.[1]
  if (token !== undefined && shown !== undefined && timingSafeEqual(hashOf(shown), hashOf(token))) return true
  if (address === undefined || !loopback.test(address)) return false
  return isOwnName(host) && (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host))
}

/** Whether a host name is one that no foreign name server answers for. */
function isOwnName(host: string | undefined): boolean {
  if (host === undefined) return true
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0
}
