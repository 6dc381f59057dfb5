import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

/** The repository's root folder. */
export const root: string = join(import.meta.dirname, '..', '..', '..')

/** The chart's folder. */
export const chart: string = join(root, 'charts', 'reprise')

/** Returns the path of a program or folder made by setup.sh. */
export function toolPath(...names: string[]): string {
  return join(inject('chartTools'), ...names)
}

/** Returns whether setup.sh could make the tool here; tests that need a missing tool are skipped by name. */
export function hasTool(...names: string[]): boolean {
  return existsSync(toolPath(...names))
}
