import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { KeyRecord } from '../access/key-record.ts'
import type { ListenerTls } from '../http/listener.ts'
import type { Config } from './config.ts'
import { CollectedFaults } from './faults/collected-faults.ts'
import { readEngineTls, readListenerTls, readRedisTls } from './read-certificates.ts'
import { checkRecordFolder } from './record-folder.ts'
import { readKeyRecords } from './sources/read-key-records.ts'

/** What is in the certificates and keys that a configuration names. */
export interface Certificates {
  readonly listener: ListenerTls | undefined
  /** in the order of the engines */
  readonly engines: readonly (EngineTls | undefined)[]
  readonly redis: EngineTls | undefined
}

/** What is in the files that a configuration names, and that a reload reads again. */
interface NamedFiles extends Certificates {
  /** with those of the configuration itself */
  readonly keys: readonly KeyRecord[]
}

/** Reads certificates and their keys. Throws a ConfigError with a line for each file that cannot be used. */
export function readCertificates({ tls, engines, redis }: Config): Certificates {
  const faults = new CollectedFaults()
  const certificates = {
    listener: faults.collect(() => readListenerTls(tls)),
    engines: engines.map((engine, i) => faults.collect(() => readEngineTls(engine.tls, i))),
    redis: faults.collect(() => readRedisTls(redis?.tls)),
  }
  faults.throwAny()
  return certificates
}

/** Returns the paths of the files that `readCertificates` reads. */
export function certificateFiles({ tls, engines, redis }: Config): string[] {
  const named = [...engines.map((engine) => engine.tls), redis?.tls].map((files) => [
    files?.ca,
    files?.cert,
    files?.key,
  ])
  return [tls?.cert, tls?.key, tls?.clientCa, ...named.flat()].filter((file) => file !== undefined)
}

/** Reads the files that a reload reads again. Throws a ConfigError with a line for each that cannot be used. */
export function readFiles(config: Config): NamedFiles {
  const faults = new CollectedFaults()
  const certificates = faults.collect(() => readCertificates(config))
  const keys = faults.collect(() => readKeyRecords(config.keys)) ?? []
  faults.throwAny()
  return { ...certificates!, keys }
}

/** Reads the same files as `readFiles`, and judges in the same way what only a start uses. */
export function readStartFiles(config: Config): NamedFiles {
  const faults = new CollectedFaults()
  const files = faults.collect(() => readFiles(config))
  const { record } = config
  if (record) faults.collect(() => checkRecordFolder(record.folder))
  faults.throwAny()
  return files!
}
