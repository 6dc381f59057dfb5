import { engineKinds } from '#engine-adapters/engine-adapter.ts'
import { ConfigError } from '../common/errors.ts'
import { CollectedFaults } from './faults/collected-faults.ts'
import { readStartFiles } from './read-files.ts'
import type { ConfigSource } from './sources/config-source.ts'
import { toConfig } from './to-config.ts'

/** The error of a configuration without an engine. */
export const noEngine: string =
  `No engine is named: write --engine http://HOST:PORT,kind=KIND (${engineKinds.join(', ')}), ` +
  'or --emulate for canned text without one.'

/**
 * Reads everything that `reprise serve --config FILE` would start with, but starts nothing. Throws a ConfigError if it
 * cannot be used.
 */
export function checkConfig(source: ConfigSource): void {
  const config = toConfig(source.load().settings)
  const faults = new CollectedFaults()
  faults.collect(() => {
    if (config.engines.length === 0) throw new ConfigError(noEngine)
  })
  faults.collect(() => readStartFiles(config))
  faults.throwAny()
}
