import { benchStall } from './bench-stall.ts'
import { printTable, report } from './print-table.ts'

/** Prints what large requests cost others. */
export async function printStall(): Promise<void> {
  const rows: string[][] = []
  for await (const { shape, megabytes, skipped, ...figures } of benchStall()) {
    const { perMegabyte, slowestHealth, slowestIdle, added, addedPlain } = figures
    const times = [perMegabyte, slowestHealth, slowestIdle, added, addedPlain].map((time) => `${time.toFixed(1)} ms`)
    rows.push([shape, `${megabytes} MB`, skipped, ...times])
    report(`  ${shape}, ${megabytes} MB: ${skipped} ${times.join(' ')}`)
  }
  printTable(
    'Other requests while three of a shape and size come in, one behind the other',
    [
      'shape',
      'size',
      'skipped',
      'time per MB',
      'slowest healthz',
      'of an idle server',
      'added to the p99 of others',
      'by a plain proxy',
    ],
    rows,
  )
}
