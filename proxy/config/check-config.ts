import { readEngineTls, readListenerTls, readRedisTls } from '../access/read-certificates.ts'
import { readKeyRecords } from '../access/read-key-records.ts'
import type { ConfigSource } from './sources/config-source.ts'
import { toConfig } from './to-config.ts'

/** Reads everything that a proxy would start with, but starts nothing. Throws a ConfigError if it cannot be used. */
export function checkConfig(source: ConfigSource): void {
  const { settings } = source.load()
  const { tls, engines, keys, redis } = toConfig(settings)
  readListenerTls(tls)
  for (const engine of engines) readEngineTls(engine.tls)
  readRedisTls(redis?.tls)
  readKeyRecords(keys)
}
