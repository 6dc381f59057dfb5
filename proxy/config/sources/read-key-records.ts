import type { KeyRecord, KeysConfig } from '../../access/api-keys.ts'
import { ConfigError } from '../../common/errors.ts'
import { findKeyFaults } from '../faults/find-key-faults.ts'
import { writeFault } from '../faults/write-fault.ts'
import { keysFileSchema } from '../schema/access-schema.ts'
import { readSettingsFile } from './read-settings-file.ts'

/** Reads the keys of the configuration and of its keys file; throws a ConfigError with a line for each fault. */
export function readKeyRecords({ file, entries: records }: KeysConfig): KeyRecord[] {
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
