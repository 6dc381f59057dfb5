import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** CPU time a process has used, user and system, in seconds; undefined where there is no /proc. */
export function cpuSeconds(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** What a process holds in memory, in bytes; undefined where there is no /proc. */
export function residentBytes(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

/** CPU time since a reading, spread over `units`, in units of `1 / scale` seconds. */
export function cpuPerUnit(pid: number, before: number | undefined, units: number, scale: number): number | undefined {
  const after = cpuSeconds(pid)
  return before === undefined || after === undefined ? undefined : ((after - before) * scale) / units
}

/** Gives a process the first CPU and the others the rest; undefined where that cannot be done. Call the result to undo. */
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
