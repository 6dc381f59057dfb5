import type { EngineTls } from '#engine-adapters/engine-client.ts'
import type { KeyRecord } from '../access/key-record.ts'
import type { ListenerTls } from '../http/listener.ts'
import type { Config } from './config.ts'
import { CollectedFaults } from './faults/collected-faults.ts'
import { readEngineTls, readListenerTls, readRedisTls } from './read-certificates.ts'
import { checkRecordFolder } from './record-folder.ts'
import { readKeyRecords } from './sources/read-key-records.ts'

/** What is in the files that a configuration names, and that a reload reads again. */
export interface NamedFiles {
  readonly listener: ListenerTls | undefined
  /** in the order of the engines */
  readonly engines: readonly (EngineTls | undefined)[]
  /** with those of the configuration itself */
  readonly keys: readonly KeyRecord[]
}

/** Reads the files that a reload reads again. Throws a ConfigError with a line for each that cannot be used. */
export function readFiles({ tls, engines, keys }: Config): NamedFiles {
  const faults = new CollectedFaults()
  const files = {
    listener: faults.collect(() => readListenerTls(tls)),
    engines: engines.map((engine, i) => faults.collect(() => readEngineTls(engine.tls, i))),
    keys: faults.collect(() => readKeyRecords(keys)) ?? [],
  }
  faults.throwAny()
  return files
}

/** Reads the same files as `readFiles`, and judges in the same way what only a start uses. */
export function readStartFiles(config: Config): NamedFiles {
  const faults = new CollectedFaults()
  const files = faults.collect(() => readFiles(config))
  faults.collect(() => readRedisTls(config.redis?.tls))
  const { record } = config
  if (record) faults.collect(() => checkRecordFolder(record.folder))
  faults.throwAny()
  return files!
}
