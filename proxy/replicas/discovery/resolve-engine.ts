import { lookup, Resolver } from 'node:dns/promises'
import type { EngineConfig } from '../../config/config.ts'

/** Where one of the engines behind a name is reached. */
export interface EnginePlace {
  /** as in a URL: IPv6 in brackets */
  readonly host: string
  /** as in a URL: empty for the usual one */
  readonly port: string
  /** what it is called; undefined: after its host */
  readonly name?: string | undefined
}

/**
 * Resolves the name in an engine's URL. Rejects, or returns nothing, if the name does not lead to any engine now. SRV
 * records are asked for as they are written, without search domains.
 */
export async function resolveEngine(
  { url, discover }: EngineConfig,
  resolver: Pick<Resolver, 'resolveSrv'> = new Resolver(),
): Promise<EnginePlace[]> {
  const { hostname, port } = new URL(url)
  if (discover === 'srv') {
    // one without a target says that there is none (RFC 2782); what is no name of a host cannot be in a URL
    const records = (await resolver.resolveSrv(hostname)).filter(({ name }) => /^\w[\w.-]*$/.test(name))
    const first = Math.min(...records.map(({ priority }) => priority))
    return records
      .filter(({ priority }) => priority === first)
      .map((record) => ({ host: record.name.toLowerCase(), port: String(record.port) }))
  }
  // through the system, which knows search domains and /etc/hosts
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true })
  return addresses.map(({ address, family }) => ({ host: family === 6 ? `[${address}]` : address, port }))
}
