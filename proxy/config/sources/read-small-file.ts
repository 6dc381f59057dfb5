import { readFileSync, statSync } from 'node:fs'

/** Certificates with their chains, and secrets, are far smaller. */
const mostBytes = 1024 * 1024

/** Reads a file of a certificate or a secret. Throws for what is no file, such as a device, and for one above 1 MiB. */
export function readSmallFile(path: string): Buffer {
  const stats = statSync(path)
  if (!stats.isFile()) throw new Error('it is no regular file')
  if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`)
  return readFileSync(path)
}
