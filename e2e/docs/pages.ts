import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export const root: string = join(import.meta.dirname, '..', '..')

/** The pages that users read, as paths from the checkout's root. */
export const pages: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'packaging/README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
