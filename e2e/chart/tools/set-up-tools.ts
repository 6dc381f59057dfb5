import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** the folder with the tools made by setup.sh */
    chartTools: string
  }
}

/** Makes the tools once, outside the checkout, and says which are missing. */
export default function setUpTools(project: TestProject): void {
  const output = execFileSync(join(import.meta.dirname, 'setup.sh'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
  const folder = output.trim().split('\n').at(-1)!
  if (!existsSync(join(folder, 'bin', 'helm'))) {
    throw new Error('Helm is what every test of the chart needs: mend what setup.sh said above, then run this again.')
  }
  project.provide('chartTools', folder)
}
