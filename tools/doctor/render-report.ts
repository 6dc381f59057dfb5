import Table from 'cli-table3'
import type { DoctorReport, Level } from './finding.ts'

const words: Record<Level, string> = { ok: 'ok', not_checked: 'not checked', warning: 'warning', fatal: 'FATAL' }

const levelWidth = 13
const checkWidth = 17
/** a column's width includes borders and the space next to them */
const borders = 4
/** of a cell's width */
const cellPadding = 2

/** Renders the report for people: a table as wide as `columns`, and below it every fix as a line that can be copied. */
export function renderReport({ engine, fatal, warnings, findings }: DoctorReport, columns: number): string {
  const width = Math.max(40, columns - levelWidth - checkWidth - borders)
  const table = new Table({
    head: ['', 'check', 'found'],
    colWidths: [levelWidth, checkWidth, width],
    wordWrap: true,
    style: { head: [], border: [] },
  })
  for (const { level, check, found } of findings) {
    table.push([words[level], nameOf(check), breakWords(found, width - cellPadding)])
  }
  const fixes = findings.flatMap(({ check, fix }) => (fix === undefined ? [] : `→ ${nameOf(check)}: ${fix}\n`))
  return `${engine}\n${table.toString()}\n${fixes.join('')}${summaryOf(fatal, warnings)}\n`
}

function nameOf(check: string): string {
  return check.replaceAll('_', ' ')
}

/** Breaks words longer than a line, which the table would cut off. */
function breakWords(text: string, width: number): string {
  return text.replace(/\S+/g, (word) => word.match(new RegExp(`.{1,${width}}`, 'gu'))!.join('\n'))
}

function summaryOf(fatal: number, warnings: number): string {
  const noted = warnings === 1 ? '1 warning' : `${warnings} warnings`
  if (fatal > 0) return `${fatal} fatal, ${noted}: mend the fatal ones first`
  return warnings > 0 ? `${noted}, nothing fatal` : 'nothing to mend'
}
