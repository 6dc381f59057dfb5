import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { KeyRecord } from '../access/api-keys.ts'
import { ConfigError } from '../common/errors.ts'
import { type Config, type EngineConfig, type TlsFiles, toConfig } from './config.ts'
import { type ConfigSource, loadConfig } from './sources/config-source.ts'
import { readKeyRecords } from './sources/key-store.ts'
import { readSmallFile } from './sources/read-settings-file.ts'

export interface FoundEngine {
  readonly engine: EngineConfig
  readonly tls: EngineTls | undefined
}

/** What is in the certificates and keys that a configuration names, without those for engines. */
export interface Certificates {
  readonly listener: EngineTls | undefined
  readonly redis: EngineTls | undefined
}

/** What is in the files that a configuration names, and that a reload reads again. */
interface NamedFiles extends Certificates {
  readonly engines: readonly FoundEngine[]
  readonly keys: readonly KeyRecord[]
}

/*
 * All of these throw a ConfigError with a line for each file that cannot be used.
 */

export function readCertificates({ tls, redis }: Pick<Config, 'tls' | 'redis'>): Certificates {
  const [listener, ofRedis] = readAll(
    () => (tls.cert === undefined || tls.key === undefined ? undefined : readTls('tls', tls)),
    () => readTls('redis.tls', redis.tls),
  )
  return { listener, redis: ofRedis }
}

/** Returns the paths of the files that `readCertificates` reads. */
export function certificateFiles({ tls, redis }: Pick<Config, 'tls' | 'redis'>): string[] {
  return [...Object.values(tls), ...Object.values(redis.tls ?? {})].filter((file) => file !== undefined)
}

export function readEngineFiles(engines: readonly EngineConfig[]): FoundEngine[] {
  return readAll(...engines.map((engine, i) => () => ({ engine, tls: readTls(`engines[${i}].tls`, engine.tls) })))
}

export function engineFiles(engines: readonly EngineConfig[]): string[] {
  return engines.flatMap(({ tls }) => Object.values(tls ?? {})).filter((file) => file !== undefined)
}

/** Reads the files that a reload reads again. */
export function readFiles(config: Config): NamedFiles {
  const [engines, keys, certificates] = readAll(
    () => readEngineFiles(config.engines),
    () => readKeyRecords(config.keys),
    () => readCertificates(config),
  )
  return { ...certificates, engines, keys }
}

/** Reads the same files, and judges in the same way what only a start uses. */
export function readStartFiles(config: Config): NamedFiles {
  const { folder } = config.record
  const [files] = readAll(
    () => readFiles(config),
    () => folder !== undefined && checkRecordFolder(folder),
  )
  return files
}

/** The error of a configuration without an engine. */
export const noEngine: string =
  `No engine is named: write --engine http://HOST:PORT,kind=KIND (${engineKinds.join(', ')}), ` +
  'or --emulate for canned text without one.'

/** Reads everything that `reprise serve --config FILE` would start with, but starts nothing. Returns what to warn of. */
export function checkConfig(source: ConfigSource): string[] {
  const config = toConfig(loadConfig(source).settings)
  const [, files] = readAll(
    () => {
      if (config.engines.length === 0) throw new ConfigError(noEngine)
    },
    () => readStartFiles(config),
  )
  return [...findExpired(config, files), ...findExpiredOfEngines(files.engines)]
}

/** Returns a warning for each certificate that we present to clients and to Redis and that has expired. */
export function findExpired({ tls, redis }: Pick<Config, 'tls' | 'redis'>, read: Certificates): string[] {
  return [...expiryOf('tls', tls.cert, read.listener), ...expiryOf('redis.tls', redis.tls?.cert, read.redis)]
}

/** Returns a warning for each certificate that we present to engines and that has expired. */
export function findExpiredOfEngines(engines: readonly FoundEngine[]): string[] {
  return engines.flatMap(({ engine, tls }, i) => expiryOf(`engines[${i}].tls`, engine.tls?.cert, tls))
}

function expiryOf(setting: string, file: string | undefined, { cert }: Pick<EngineTls, 'cert'> = {}): string[] {
  const { validTo } = cert ? new X509Certificate(cert) : {}
  return validTo && Date.parse(validTo) < Date.now() ? [`${setting}.cert: ${file} has expired (${validTo})`] : []
}

/** The error of a folder that records cannot be written to. */
export function unwritableFolder(folder: string, { message }: Error): ConfigError {
  return new ConfigError(`record.folder: cannot write to ${folder} (${message}): name a folder that can be made`)
}

/** Makes a folder where records would be, or where their folder would be made, and removes it. */
function checkRecordFolder(folder: string): void {
  let present = resolve(folder)
  while (!existsSync(present)) present = dirname(present)
  try {
    rmdirSync(mkdtempSync(join(present, 'check-')))
  } catch (error) {
    throw unwritableFolder(folder, error as Error)
  }
}

/** Returns what each of these reads. A ConfigError of one hides none of the others: it throws one with the lines of all. */
function readAll<T extends readonly unknown[]>(...reads: { readonly [I in keyof T]: () => T[I] }): T {
  const faults: string[] = []
  const all = reads.map((read) => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      faults.push(error.message)
      return undefined
    }
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return all as unknown as T
}

/** Reads the certificate that we present, and those that we trust. Throws a ConfigError if one cannot be used. */
export function readTls(setting: string, files: TlsFiles | Config['tls'] | undefined): EngineTls | undefined {
  if (!files) return undefined
  const named = Object.entries(files).filter(([, file]) => file !== undefined)
  const read = ([name, file]: [string, string]) => [name, readSmallFile(`${setting}.${name}`, file)] as const
  const { client_ca, ...own } = Object.fromEntries(readAll(...named.map((one) => () => read(one))))
  const pem: EngineTls = client_ca ? { ...own, ca: client_ca } : own
  try {
    createSecureContext(pem)
    if (pem.ca) checkAuthorities(pem.ca.toString())
  } catch (error) {
    throw new ConfigError(
      `${setting} (${named.map(([, file]) => file).join(', ')}): not a certificate in PEM and the key that belongs to it: ${(error as Error).message}`,
    )
  }
  return pem
}

/** Throws unless a text is certificates. OpenSSL takes any other for none, and then trusts nobody. */
function checkAuthorities(text: string): void {
  const begun = text.match(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/g)?.length ?? 0
  const whole = text.match(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END \1CERTIFICATE-----/g) ?? []
  if (begun === 0 || whole.length < begun) throw new Error('an authority is missing, or cut off')
  for (const one of whole) if (one.startsWith('-----BEGIN CERT')) new X509Certificate(one)
}
