import type { KeyRecord, KeysConfig } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { writeFault } from '../config/faults/write-fault.ts'
import { keysFileSchema } from '../config/schema/access-schema.ts'
import { readSettingsFile } from '../config/sources/read-settings-file.ts'
import { findKeyFaults } from './find-key-faults.ts'

/** Whether clients must present a key. */
export function asksForKeys({ file, records }: KeysConfig): boolean {
  return file !== undefined || records.length > 0
}

/** Reads the keys of the configuration and of its keys file; throws a ConfigError with a line for each fault. */
export function readKeyRecords({ file, records }: KeysConfig): KeyRecord[] {
  if (file === undefined) return [...records]
  const { settings, locate } = readSettingsFile(file, keysFileSchema)
  const listed = settings.keys as KeyRecord[]
  // checked together with the configuration's keys, to find keys that are in both
  const lines = findKeyFaults([...records, ...listed]).map(({ path: [i, ...rest], reason }) => {
    const path = ['keys', (i as number) - records.length, ...rest]
    return writeFault({ path, reason }, locate(path))
  })
  if (lines.length > 0) throw new ConfigError(lines.join('\n'))
  return [...records, ...listed]
}
