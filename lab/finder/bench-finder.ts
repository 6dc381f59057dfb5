import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { checkOut } from '../../e2e/bench/print-against.ts'
import { printTable, report } from '../../e2e/bench/print-table.ts'

/*
 * `npm run bench:finder -- [commit]`: what it takes to find and identify the blocks of requests of 240 KB, beside another
 * commit, both in turns. Prints a Markdown table of milliseconds of CPU.
 */

const rounds = 5
const root = join(import.meta.dirname, '../..')
const [commit = '78147a7'] = process.argv.slice(2)

interface Layouts {
  readonly read: number
  readonly known: number
  readonly unknown: number
}

function timeLayouts(folder: string): Layouts {
  const script = join(import.meta.dirname, 'time-layouts.mjs')
  return JSON.parse(execFileSync('node', ['--import', 'tsx', script, folder], { cwd: root }).toString()) as Layouts
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

const folders = { [commit]: checkOut(commit), now: root }
const times: Record<string, Layouts[]> = { [commit]: [], now: [] }
for (let round = 1; round <= rounds; round++) {
  for (const [name, folder] of Object.entries(folders)) times[name]!.push(timeLayouts(folder))
  report(`  round ${round} of ${rounds}`)
}
const titles = { read: 'reading the JSON', known: 'a known template, 15 blocks', unknown: 'nothing is found' } as const
printTable(
  'CPU of a request of 240 KB in the finder, in ms',
  ['', commit, 'now', 'ratio'],
  Object.entries(titles).map(([key, title]) => {
    const [before, now] = [times[commit]!, times.now!].map((all) => median(all.map((own) => own[key as keyof Layouts])))
    return [title, before!.toFixed(2), now!.toFixed(2), (now! / before!).toFixed(2)]
  }),
)
