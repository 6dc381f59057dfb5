import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import { ConfigError } from '../common/errors.ts'
import type { ListenerTls } from '../http/listener.ts'
import type { Config, TlsFiles } from './config.ts'
import { readAll } from './faults/read-all.ts'
import { readSmallFile } from './sources/read-small-file.ts'

/** Reads the certificates of a listener. Throws a ConfigError with a line for each file that cannot be used. */
export function readListenerTls({ cert, key, client_ca }: Config['tls']): ListenerTls | undefined {
  if (cert === undefined || key === undefined) return undefined
  const read = readPem('tls', { cert, key, client_ca })
  return { cert: read.cert!, key: read.key!, clientCa: read.client_ca }
}

/** The same for the certificate that we present to an engine or Redis, and those that we trust. */
export function readClientTls(setting: string, files: TlsFiles | undefined): EngineTls | undefined {
  return files && readPem(setting, { ca: files.ca, cert: files.cert, key: files.key })
}

/** Reads files by the names of their settings; those without a file are left out. */
function readPem<Name extends string>(
  setting: string,
  files: Readonly<Record<Name, string | undefined>>,
): { [name in Name]?: Buffer } {
  const named = Object.entries(files).filter((entry): entry is [Name, string] => entry[1] !== undefined)
  const read = readAll(
    ...named.map(
      ([name, file]) =>
        () =>
          [name, readSmallFile(`${setting}.${name}`, file)] as const,
    ),
  )
  const pem = Object.fromEntries(read) as { [name in 'ca' | 'client_ca' | 'cert' | 'key']?: Buffer }
  try {
    const ca = pem.ca ?? pem.client_ca
    createSecureContext({ ...pem, ca })
    if (ca) checkAuthorities(ca.toString())
  } catch (error) {
    throw new ConfigError(
      `${setting} (${named.map(([, file]) => file).join(', ')}): not a certificate in PEM and the key that belongs to it: ${(error as Error).message}`,
    )
  }
  return pem as { [name in Name]?: Buffer }
}

/** Throws unless a text is certificates. OpenSSL takes any other for none, and then trusts nobody. */
function checkAuthorities(text: string): void {
  const begun = text.match(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/g)?.length ?? 0
  const whole = text.match(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END \1CERTIFICATE-----/g) ?? []
  if (begun === 0 || whole.length < begun) throw new Error('an authority is missing, or cut off')
  for (const one of whole) if (one.startsWith('-----BEGIN CERT')) new X509Certificate(one)
}
