import { benchStall, type StallOfProxy } from './bench-stall.ts'
import { printTable, report } from './print-table.ts'

/** Prints how large requests affect others. `only`: shapes to measure; empty: all. */
export async function printStall(only: readonly string[]): Promise<void> {
  const rows: string[][] = []
  for await (const { shape, megabytes, skipped, perMegabyte, reprise, plain } of benchStall(only)) {
    const row = [`${megabytes} MB`, skipped, show(perMegabyte), ...timesOf(reprise), ...timesOf(plain)]
    rows.push([shape, ...row])
    report(`  ${shape}, ${row.join(' ')}`)
  }
  const each = ['slowest healthz', 'added to the p99 of others', 'longest turn, computing']
  printTable(
    'Other requests while three of a shape and size come in, one behind the other, three times; and through a plain proxy',
    ['shape', 'size', 'skipped', 'time per MB', ...each, ...each.map((name) => `plain: ${name}`)],
    rows,
  )
}

function timesOf({ slowestHealth, added, longestTurn }: StallOfProxy): string[] {
  return [show(slowestHealth), show(added), longestTurn === undefined ? '-' : show(longestTurn)]
}

function show(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`
}
