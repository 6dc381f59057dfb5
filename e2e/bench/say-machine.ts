import { cpus } from 'node:os'
import { say } from './print-table.ts'

/** The line above all tables: when and on what they were measured. */
export function sayMachine(): void {
  const day = new Date().toISOString().slice(0, 10)
  say(`${day}, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}\n`)
}
