import { BlockList, isIP } from 'node:net'
import { ConfigError } from '../common/errors.ts'

/** Addresses that are trusted to name a request's tenant. */
interface TrustedPeers {
  has(address: string | undefined): boolean
}

/** Reads addresses and ranges, as in 10.0.0.0/8, ::1 or fd00::/8; throws a ConfigError for anything else. */
export function readPeers(ranges: readonly string[]): TrustedPeers {
  const list = new BlockList()
  for (const range of ranges) addRange(list, range)
  return {
    has: (address) => {
      if (address === undefined || ranges.length === 0) return false
      const plain = plainAddress(address)
      const version = isIP(plain)
      return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
    },
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

/** Turns IPv4 over an IPv6 socket into plain IPv4, and drops the zone of a link-local address. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}
