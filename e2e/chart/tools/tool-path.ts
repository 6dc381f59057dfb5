import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

/** The repository. */
export const root: string = join(import.meta.dirname, '..', '..', '..')

/** The chart. */
export const chart: string = join(root, 'charts', 'reprise')

/** A program or folder that setup.sh has made. */
export function toolPath(...names: string[]): string {
  return join(inject('chartTools'), ...names)
}

/** Whether setup.sh could make it here; tests that need what is missing are skipped by name. */
export function hasTool(...names: string[]): boolean {
  return existsSync(toolPath(...names))
}
