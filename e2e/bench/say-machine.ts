import { cpus } from 'node:os'
import { say } from './print-table.ts'

/** Prints the line above all tables: the date, the machine and the Node version. */
export function sayMachine(): void {
  const day = new Date().toISOString().slice(0, 10)
  say(`${day}, ${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}\n`)
}
