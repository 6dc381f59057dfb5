import { ApiKeys, type KeyRecord, type KeysConfig } from '../../access/api-keys.ts'
import { ConfigError } from '../../common/errors.ts'
import type { Log } from '../../common/log.ts'
import { readVersion } from '../../common/read-version.ts'
import { type SettingFault, writeFault } from '../faults/check-settings.ts'
import { matching, object, type SettingSchema, text, whole } from '../schema/setting-schema.ts'
import { readSettingsFile } from './read-settings-file.ts'
import { watchFiles } from './watch-files.ts'

/** What a store needs besides its configuration. */
interface KeyStoreOptions {
  readonly log: Pick<Log, 'info' | 'error'>
  /** called after every reload, so that state of removed keys can be forgotten */
  readonly onChange?: (keys: ApiKeys) => void
  /** how often the file is polled */
  readonly pollMilliseconds?: number
}

/** The API keys of a running proxy: reads the keys file, and follows its changes. */
export class KeyStore {
  readonly keys: ApiKeys
  readonly #options: KeyStoreOptions
  /** Stops following the file. */
  close: () => void = () => {}

  /** Throws a ConfigError if the keys cannot be read. */
  constructor(config: KeysConfig, options: KeyStoreOptions) {
    this.#options = options
    this.keys = new ApiKeys(config.file === undefined ? undefined : readKeyRecords(config))
    this.#watch(config)
  }

  /** Follows another file, of which these are the keys. Without one, the keys stay: omitting them would let everyone in. */
  reload(config: KeysConfig, records: readonly KeyRecord[]): void {
    if (config.file === undefined) return
    this.close()
    this.#watch(config)
    this.#replace(records)
  }

  #watch(config: KeysConfig): void {
    if (config.file === undefined) return
    const read = (): void => {
      try {
        this.#replace(readKeyRecords(config))
      } catch (error) {
        const faults = (error as Error).message.split('\n')
        this.#options.log.error({ version: readVersion(), faults }, 'API keys not reloaded: those before stay')
      }
    }
    this.close = watchFiles([config.file], read, this.#options.pollMilliseconds)
  }

  #replace(records: readonly KeyRecord[]): void {
    const { log, onChange } = this.#options
    this.keys.replace(records)
    log.info({ version: readVersion(), keys: this.keys.entries.length }, 'API keys reloaded')
    onChange?.(this.keys)
  }
}

/** Describes one API key. */
const keySchema: SettingSchema = object(['sha256'], {
  name: text('What the key is called in logs.'),
  tenant: text(
    'The tenant that the key belongs to. Keys of one tenant share cache. Without it, the name is the tenant.',
  ),
  sha256: matching(
    'SHA-256 of the key, as `reprise hash-key` prints it.',
    '^[0-9a-fA-F]{64}$',
    'has to be 64 hexadecimal digits: `reprise hash-key` prints them',
  ),
  requests_per_minute: whole('Requests a minute, all of which may come at once. Without it: no limit.', 1),
  prompt_tokens_per_minute: whole('Prompt tokens a minute, all of which may come at once. Without it: no limit.', 1),
  cold_tokens_per_minute: whole(
    'Instead of prompt_tokens_per_minute: counts what an engine computes, not what it takes from its cache.',
    1,
  ),
  priority: { type: 'integer', description: 'Priority of requests that name none; lower is sooner.' },
  expires: matching(
    'When the key expires: an ISO 8601 date, or date and time with a zone.',
    '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d))?$',
    'write a date as in 2030-01-31 or 2030-01-31T12:00:00Z',
  ),
})

export const keysFileSchema: SettingSchema = object(['keys'], {
  keys: { type: 'array', minItems: 1, items: keySchema },
})

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
