import { createHash } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { ConfigError } from '../common/errors.ts'

/** The hash that is stored instead of an API key. */
export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Reads a key from standard input, where process lists do not show it, and prints its line for a keys file. */
export async function hashKey(tenant: string): Promise<void> {
  if (tenant === '') throw new ConfigError('A tenant needs a name: write it behind --tenant.', 2)
  if (process.stdin.isTTY) process.stderr.write('Type or paste the key, then Enter and Ctrl-D:\n')
  const key = (await text(process.stdin)).trim()
  if (key === '') throw new ConfigError('There is no key: write it to the standard input.')
  if (/[^!-~]/.test(key)) throw new ConfigError('A key holds ASCII without blanks: write one key at a time.')
  process.stdout.write(`- { tenant: ${JSON.stringify(tenant)}, sha256: "${hashOf(key).toString('hex')}" }\n`)
}
