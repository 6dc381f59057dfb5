import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { benchLatency, rate } from './bench-latency.ts'
import { benchThroughput } from './bench-throughput.ts'
import { printTable, report } from './print-table.ts'
import type { BodyShape } from './rag-bodies.ts'
import { startSidesAgainst } from './start-sides.ts'

const root = join(import.meta.dirname, '../..')
export const shapes: readonly BodyShape[] = [
  { bytes: 240_000, blocks: 15 },
  { bytes: 1_000, blocks: 15 },
]

/**
 * The commit that the cost of a request is compared with: the last release. It moves only with a release, never because
 * something became slower.
 */
export const baseline: string = readFileSync(join(import.meta.dirname, 'overhead-baseline.txt'), 'utf8').trim()

/** Prints what this checkout adds to a request, beside another commit: both run in turns, so that only ratios count. */
export async function printAgainst(commit: string = baseline): Promise<void> {
  const sides = await startSidesAgainst(commit, checkOut(commit))
  const rows: string[][] = []
  try {
    for (const shape of shapes) {
      const body = `${shape.bytes / 1000} KB, ${shape.blocks} blocks`
      const latencies = (await benchLatency(sides, shape)).slice(1)
      const throughputs = await benchThroughput(sides, shape)
      const figures: readonly (readonly [name: string, unit: string, values: readonly (number | undefined)[]])[] = [
        ['added, p50', 'ms', latencies.map(({ added }) => added?.p50)],
        ['added, p99', 'ms', latencies.map(({ added }) => added?.p99)],
        ['requests a second', '', throughputs.map(({ perSecond }) => perSecond)],
        ['CPU of the proxy', 'ms', throughputs.map(({ cpu }) => cpu)],
      ]
      for (const [name, unit, [before, now]] of figures) rows.push([body, name, ...compare(before, now, unit)])
      report(`  ${body}`)
    }
  } finally {
    await sides.stop()
  }
  printTable(
    `Cost of a request against commit ${commit}: ${rate} a second, and as many as 16 connections get on one core`,
    ['body', 'figure', commit, 'now', 'ratio'],
    rows,
  )
}

/** Returns two figures as they are shown, and how many times the first the second is. */
function compare(before: number | undefined, now: number | undefined, unit: string): string[] {
  const show = (value: number | undefined): string => (value === undefined ? '-' : `${value.toFixed(2)} ${unit}`.trim())
  return [show(before), show(now), before && now ? (now / before).toFixed(2) : '-']
}

/** Returns a folder that holds a commit of this repository, ready to run; it is made once. */
export function checkOut(commit: string): string {
  const git = (...args: string[]): Buffer => execFileSync('git', ['-C', root, ...args], { maxBuffer: 2 ** 30 })
  const sha = git('rev-parse', '--verify', `${commit}^{commit}`).toString().trim()
  const folder = join(homedir(), '.cache/reprise/commits', sha)
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return folder
  report(`  installing ${commit} in ${folder}`)
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', sha) })
  execFileSync('npm', ['ci', '--silent'], { cwd: folder, stdio: 'inherit' })
  execFileSync('npm', ['run', '--silent', '--if-present', 'build'], { cwd: folder, stdio: 'inherit' })
  return folder
}
