import type { KeyRecord } from '../../access/api-keys.ts'
import type { SettingFault } from './check-settings.ts'

/** Finds keys without a name or with two limits of tokens, keys that are listed twice, and invalid dates; paths start at the list. */
export function findKeyFaults(records: readonly KeyRecord[]): SettingFault[] {
  const seen = new Set<string>()
  return records.flatMap((record, i) => {
    const { name, tenant, sha256, expires } = record
    const faults: SettingFault[] = []
    if (name === undefined && tenant === undefined) faults.push({ path: [i], reason: 'needs a tenant or a name' })
    const hash = sha256.toLowerCase()
    if (seen.has(hash)) faults.push({ path: [i, 'sha256'], reason: 'the key is listed twice' })
    seen.add(hash)
    if (record.cold_tokens_per_minute !== undefined && record.prompt_tokens_per_minute !== undefined)
      faults.push({
        path: [i, 'cold_tokens_per_minute'],
        reason: 'is given beside prompt_tokens_per_minute: choose one',
      })
    if (expires !== undefined && Number.isNaN(Date.parse(expires)))
      faults.push({ path: [i, 'expires'], reason: `'${expires}' is no date: write one as in 2030-01-31` })
    return faults
  })
}
