import { join } from 'node:path'
import { baseline, checkOut, shapes } from './print-against.ts'
import { printTable, report } from './print-table.ts'
import { createBodies } from './rag-bodies.ts'
import { runClosedLoop } from './send-load.ts'
import { startSidesAgainst } from './start-sides.ts'

const preload = join(import.meta.dirname, 'count-allocations.mjs')
const warmUp = 4_000
const counted = 2_000

/**
 * Prints how many bytes of JavaScript's heap a request takes on its way, beside another commit. Unlike times, the figure
 * hardly depends on what else the machine does.
 */
export async function printAllocations(commit: string = baseline): Promise<void> {
  const rows: string[][] = []
  for (const shape of shapes) {
    const sides = await startSidesAgainst(commit, checkOut(commit), { isQuiet: true, preload })
    try {
      const bytes: number[] = []
      for (const { pool, ask } of sides.proxies) {
        const next = createBodies(shape)
        await runClosedLoop(pool, next, 8, (sent) => sent >= warmUp)
        await ask()
        const sent = await runClosedLoop(pool, next, 8, (done) => done >= counted)
        bytes.push((await ask<{ bytes: number }>()).bytes / sent)
      }
      const [before, now] = bytes as [number, number]
      const shown = [before, now].map((own) => `${(own / 1_000).toFixed(0)} KB`)
      rows.push([`${shape.bytes / 1_000} KB, ${shape.blocks} blocks`, ...shown, (now / before).toFixed(2)])
      report(`  ${shape.bytes / 1_000} KB`)
    } finally {
      await sides.stop()
    }
  }
  printTable(`Heap that a request allocates, against commit ${commit}`, ['body', commit, 'now', 'ratio'], rows)
}
