import { readFileSync, statSync } from 'node:fs'
import { ConfigError } from '../../common/errors.ts'

/** Certificates with their chains, and secrets, are far smaller. */
const mostBytes = 1024 * 1024

/**
 * Reads the file of a certificate or a secret that a setting names. Throws a ConfigError, also for what is no file, such
 * as a device, and for one above 1 MiB.
 */
export function readSmallFile(setting: string, path: string): Buffer {
  try {
    const stats = statSync(path)
    if (!stats.isFile()) throw new Error('it is no regular file')
    if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`)
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`${setting}: ${path} cannot be read: ${(error as Error).message}`)
  }
}
