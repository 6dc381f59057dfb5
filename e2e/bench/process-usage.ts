import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Returns the CPU time a process has used, user and system, in seconds; undefined if not on Linux. */
export function cpuSeconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Returns the resident memory of a process, in bytes; undefined if not on Linux. */
export function residentBytes(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

/** Returns the CPU time since the reading `before`, divided by `units`, in units of `1 / scale` seconds. */
export function cpuPerUnit(pid: number, before: number | undefined, units: number, scale: number): number | undefined {
  const after = cpuSeconds(pid)
  return before === undefined || after === undefined ? undefined : ((after - before) * scale) / units
}

/** Pins a process to the first CPU and the others to the rest. Returns a function to undo it; undefined on failure. */
export function pinToOneCpu(pid: number, others: readonly number[]): (() => void) | undefined {
  const last = cpus().length - 1
  if (last < 1) return undefined
  const pin = (list: string, target: number): void => {
    execFileSync('taskset', ['-acp', list, String(target)], { stdio: 'ignore' })
  }
  try {
    pin('0', pid)
    for (const other of others) pin(`1-${last}`, other)
  } catch {
    return undefined
  }
  return () => {
    for (const target of [pid, ...others]) pin(`0-${last}`, target)
  }
}
