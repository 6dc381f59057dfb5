import Table from 'cli-table3'
import type { DoctorReport, Level } from './finding.ts'

const words: Record<Level, string> = { ok: 'ok', not_checked: 'not checked', warning: 'warning', fatal: 'FATAL' }

const levelWidth = 13
const checkWidth = 17
/** borders and the space beside them are part of a column's width */
const borders = 4

/** The report for people, as wide as `columns`. */
export function renderReport({ engine, fatal, warnings, findings }: DoctorReport, columns: number): string {
  const width = Math.max(40, columns - levelWidth - checkWidth - borders)
  const table = new Table({
    head: ['', 'check', 'found'],
    colWidths: [levelWidth, checkWidth, width],
    wordWrap: true,
    style: { head: [], border: [] },
  })
  for (const { level, check, found, fix } of findings) {
    table.push([words[level], check.replaceAll('_', ' '), fix === undefined ? found : `${found}\n→ ${fix}`])
  }
  return `${engine}\n${table.toString()}\n${summaryOf(fatal, warnings)}\n`
}

function summaryOf(fatal: number, warnings: number): string {
  const noted = warnings === 1 ? '1 warning' : `${warnings} warnings`
  if (fatal > 0) return `${fatal} fatal, ${noted}: reprise cannot help this engine before the fatal ones are mended`
  return warnings > 0 ? `${noted}, nothing fatal` : 'nothing to mend'
}
