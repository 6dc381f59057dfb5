import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { KeyRecord } from '../access/api-keys.ts'
import { ConfigError } from '../common/errors.ts'
import type { ListenerTls } from '../http/listener.ts'
import type { Config, EngineConfig } from './config.ts'
import { readAll } from './faults/read-all.ts'
import { readClientTls, readListenerTls } from './read-certificates.ts'
import type { ConfigSource } from './sources/config-source.ts'
import { readKeyRecords } from './sources/read-key-records.ts'
import { toConfig } from './to-config.ts'

/** An engine, with the certificates for it. */
export interface FoundEngine {
  readonly engine: EngineConfig
  readonly tls: EngineTls | undefined
}

/** What is in the certificates and keys that a configuration names, without those for engines. */
export interface Certificates {
  readonly listener: ListenerTls | undefined
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

/** Reads certificates again. */
export function readCertificates({ tls, redis }: Pick<Config, 'tls' | 'redis'>): Certificates {
  const [listener, ofRedis] = readAll(
    () => readListenerTls(tls),
    () => readClientTls('redis.tls', redis.tls),
  )
  return { listener, redis: ofRedis }
}

/** Returns the paths of the files that `readCertificates` reads. */
export function certificateFiles({ tls, redis }: Pick<Config, 'tls' | 'redis'>): string[] {
  return [tls.cert, tls.key, tls.client_ca, redis.tls?.ca, redis.tls?.cert, redis.tls?.key].filter(isNamed)
}

/** Reads the certificates for engines. */
export function readEngineFiles(engines: readonly EngineConfig[]): FoundEngine[] {
  return readAll(...engines.map((engine, i) => () => ({ engine, tls: readClientTls(`engines[${i}].tls`, engine.tls) })))
}

/** Returns the paths of the files that `readEngineFiles` reads. */
export function engineFiles(engines: readonly EngineConfig[]): string[] {
  return engines.flatMap(({ tls }) => [tls?.ca, tls?.cert, tls?.key]).filter(isNamed)
}

function isNamed(file: string | undefined): file is string {
  return file !== undefined
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

/** Reads everything that `reprise serve --config FILE` would start with, but starts nothing. */
export function checkConfig(source: ConfigSource): void {
  const config = toConfig(source.load().settings)
  readAll(
    () => {
      if (config.engines.length === 0) throw new ConfigError(noEngine)
    },
    () => readStartFiles(config),
  )
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
