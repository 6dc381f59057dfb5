import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeysConfig } from '#proxy/access/api-keys.ts'

let folder: string | undefined
let files = 0

/** Writes API keys to a file of their own, and returns the settings that name it. */
export function keysIn(...records: readonly object[]): KeysConfig {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'reprise-keys-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  files += 1
  const file = join(folder, `keys-${files}.json`)
  writeFileSync(file, JSON.stringify({ keys: records }))
  return { file, forward_client_authorization: false }
}
