import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../common/errors.ts'

/** The error of a folder that records cannot be written to. */
export function unwritableFolder(folder: string, { message }: Error): ConfigError {
  return new ConfigError(`record.folder: cannot write to ${folder} (${message}): name a folder that can be made`)
}

/** Makes a folder where records would be, or where their folder would be made, and removes it. */
export function checkRecordFolder(folder: string): void {
  let present = resolve(folder)
  while (!existsSync(present)) present = dirname(present)
  try {
    rmdirSync(mkdtempSync(join(present, 'check-')))
  } catch (error) {
    throw unwritableFolder(folder, error as Error)
  }
}
