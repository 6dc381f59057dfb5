import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import { ConfigError } from '../common/errors.ts'
import type { ListenerTls } from '../http/listener.ts'
import type { Config, TlsFiles } from './config.ts'
import { CollectedFaults } from './faults/collected-faults.ts'
import { readSmallFile } from './sources/read-small-file.ts'

/** Reads the certificates of a listener. Throws a ConfigError with a line for each file that cannot be used. */
export function readListenerTls({ cert, key, client_ca }: Config['tls']): ListenerTls | undefined {
  if (cert === undefined || key === undefined) return undefined
  const read = readAll('tls', { cert, key, client_ca })
  const tls: ListenerTls = { cert: read.cert!, key: read.key!, clientCa: read.client_ca }
  check(`tls (${cert}, ${key}${client_ca === undefined ? '' : `, ${client_ca}`})`, { ...tls, ca: tls.clientCa })
  return tls
}

/**
 * Reads the certificate that we present to an engine, the `index`th of the configuration, and those we trust. Throws a
 * ConfigError with a line for each file that cannot be used.
 */
export function readEngineTls(files: TlsFiles | undefined, index: number): EngineTls | undefined {
  return readClientTls(`engines[${index}].tls`, files)
}

/** The same for Redis. */
export function readRedisTls(files: TlsFiles | undefined): EngineTls | undefined {
  return readClientTls('redis.tls', files)
}

function readClientTls(setting: string, files: TlsFiles | undefined): EngineTls | undefined {
  if (files === undefined) return undefined
  const tls = readAll(setting, { ca: files.ca, cert: files.cert, key: files.key })
  check(`${setting} (${Object.values(files).filter(Boolean).join(', ')})`, tls)
  return tls
}

/** Reads files by the names of their settings; those without a file are left out. */
function readAll<Name extends string>(
  setting: string,
  files: Readonly<Record<Name, string | undefined>>,
): { [name in Name]?: Buffer } {
  const faults = new CollectedFaults()
  const contents: { [name in Name]?: Buffer } = {}
  for (const [name, file] of Object.entries(files) as [Name, string | undefined][]) {
    if (file === undefined) continue
    const content = faults.collect(() => read(`${setting}.${name}`, file))
    if (content !== undefined) contents[name] = content
  }
  faults.throwAny()
  return contents
}

function read(setting: string, file: string): Buffer {
  try {
    return readSmallFile(file)
  } catch (error) {
    throw new ConfigError(`${setting}: ${file} cannot be read: ${(error as Error).message}`)
  }
}

function check(setting: string, pem: Omit<SecureContextOptions, 'ca'> & { readonly ca?: Buffer | undefined }): void {
  try {
    createSecureContext(pem)
    if (pem.ca) checkAuthorities(pem.ca.toString())
  } catch (error) {
    throw new ConfigError(
      `${setting}: not a certificate in PEM and the key that belongs to it: ${(error as Error).message}`,
    )
  }
}

/** Throws unless a text is certificates. OpenSSL takes any other for none, and then trusts nobody. */
function checkAuthorities(text: string): void {
  const begun = text.match(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/g)?.length ?? 0
  const whole = text.match(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END \1CERTIFICATE-----/g) ?? []
  if (begun === 0 || whole.length < begun) throw new Error('an authority is missing, or cut off')
  for (const one of whole) if (one.startsWith('-----BEGIN CERT')) new X509Certificate(one)
}
