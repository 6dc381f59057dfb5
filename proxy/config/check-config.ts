import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readEngineTls, readListenerTls, readRedisTls } from '../access/read-certificates.ts'
import { readKeyRecords } from '../access/read-key-records.ts'
import { ConfigError } from './config-error.ts'
import type { ConfigSource } from './sources/config-source.ts'
import { toConfig } from './to-config.ts'

/** The error of a configuration without an engine. */
export const noEngine =
  'No engine is named: write --engine http://HOST:PORT,kind=vllm (or sglang, openai), or --emulate for canned text without one.'

/**
 * Reads everything that `reprise serve --config FILE` would start with, but starts nothing. Throws a ConfigError if it
 * cannot be used.
 */
export function checkConfig(source: ConfigSource): void {
  const { settings } = source.load()
  const { tls, engines, keys, redis, record } = toConfig(settings)
  if (engines.length === 0) throw new ConfigError(noEngine)
  readListenerTls(tls)
  for (const engine of engines) readEngineTls(engine.tls)
  readRedisTls(redis?.tls)
  readKeyRecords(keys)
  if (record) checkFolder(record.folder)
}

/** The error of a folder that records cannot be written to. */
export function unwritableFolder(folder: string, { message }: Error): ConfigError {
  return new ConfigError(`record.folder: cannot write to ${folder} (${message}): name a folder that can be made`)
}

/** Makes a folder where records would be, or where their folder would be made, and removes it. */
function checkFolder(folder: string): void {
  let present = resolve(folder)
  while (!existsSync(present)) present = dirname(present)
  try {
    rmdirSync(mkdtempSync(join(present, 'check-')))
  } catch (error) {
    throw unwritableFolder(folder, error as Error)
  }
}
