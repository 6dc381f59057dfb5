import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { KeyRecord } from '../access/api-keys.ts'
import type { ListenerTls } from '../http/listener.ts'
import type { Config, EngineConfig } from './config.ts'
import { CollectedFaults } from './faults/collected-faults.ts'
import { readEngineTls, readListenerTls, readRedisTls } from './read-certificates.ts'
import { checkRecordFolder } from './record-folder.ts'
import { readKeyRecords } from './sources/read-key-records.ts'

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
  /** with those of the configuration itself */
  readonly keys: readonly KeyRecord[]
}

/** Reads certificates again. Throws a ConfigError with a line for each file that cannot be used. */
export function readCertificates({ tls, redis }: Pick<Config, 'tls' | 'redis'>): Certificates {
  const faults = new CollectedFaults()
  const certificates = {
    listener: faults.collect(() => readListenerTls(tls)),
    redis: faults.collect(() => readRedisTls(redis.tls)),
  }
  faults.throwAny()
  return certificates
}

/** Returns the paths of the files that `readCertificates` reads. */
export function certificateFiles({ tls, redis }: Pick<Config, 'tls' | 'redis'>): string[] {
  return [tls.cert, tls.key, tls.client_ca, redis.tls?.ca, redis.tls?.cert, redis.tls?.key].filter(isNamed)
}

/** Returns the paths of the files that `readEngineFiles` reads. */
export function engineFiles(engines: readonly EngineConfig[]): string[] {
  return engines.flatMap(({ tls }) => [tls?.ca, tls?.cert, tls?.key]).filter(isNamed)
}

function isNamed(file: string | undefined): file is string {
  return file !== undefined
}

/** Reads the files that a reload reads again. Throws a ConfigError with a line for each that cannot be used. */
export function readFiles(config: Config): NamedFiles {
  const faults = new CollectedFaults()
  const engines = faults.collect(() => readEngineFiles(config.engines)) ?? []
  const keys = faults.collect(() => readKeyRecords(config.keys)) ?? []
  const certificates = faults.collect(() => readCertificates(config))
  faults.throwAny()
  return { ...certificates!, engines, keys }
}

/** Reads the certificates for engines. Throws a ConfigError with a line for each file that cannot be used. */
export function readEngineFiles(engines: readonly EngineConfig[]): FoundEngine[] {
  const faults = new CollectedFaults()
  const found = engines.map((engine, i) => ({ engine, tls: faults.collect(() => readEngineTls(engine.tls, i)) }))
  faults.throwAny()
  return found
}

/** Reads the same files as `readFiles`, and judges in the same way what only a start uses. */
export function readStartFiles(config: Config): NamedFiles {
  const faults = new CollectedFaults()
  const files = faults.collect(() => readFiles(config))
  const { folder } = config.record
  if (folder !== undefined) faults.collect(() => checkRecordFolder(folder))
  faults.throwAny()
  return files!
}
