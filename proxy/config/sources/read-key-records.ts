import type { KeyRecord, KeysConfig } from '../../access/api-keys.ts'
import { ConfigError } from '../../common/errors.ts'
import type { SettingFault } from '../faults/check-settings.ts'
import { writeFault } from '../faults/write-fault.ts'
import { keysFileSchema } from '../schema/access-schema.ts'
import { readSettingsFile } from './read-settings-file.ts'

/** Reads the keys file; throws a ConfigError with a line for each fault. Without a file, there are no keys. */
export function readKeyRecords({ file }: KeysConfig): readonly KeyRecord[] {
  if (file === undefined) return []
  const { settings, locate } = readSettingsFile(file, keysFileSchema)
  const records = settings.keys as KeyRecord[]
  const faults = findKeyFaults(records).map((fault) => writeFault(fault, locate(fault.path)))
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return records
}

/** Finds keys without a name or with two limits of tokens, keys that are listed twice, and invalid dates. */
function findKeyFaults(records: readonly KeyRecord[]): SettingFault[] {
  const seen = new Set<string>()
  return records.flatMap((record, i) => {
    const { name, tenant, sha256, expires } = record
    const faults: SettingFault[] = []
    const add = (reason: string, ...key: string[]): unknown => faults.push({ path: ['keys', i, ...key], reason })
    if (name === undefined && tenant === undefined) add('needs a tenant or a name')
    const hash = sha256.toLowerCase()
    if (seen.has(hash)) add('the key is listed twice', 'sha256')
    seen.add(hash)
    if (record.cold_tokens_per_minute !== undefined && record.prompt_tokens_per_minute !== undefined)
      add('is given beside prompt_tokens_per_minute: choose one', 'cold_tokens_per_minute')
    if (expires !== undefined && Number.isNaN(Date.parse(expires)))
      add(`'${expires}' is no date: write one as in 2030-01-31`, 'expires')
    return faults
  })
}
